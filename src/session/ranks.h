// Reading the files of many ranks: several at once, and of each only what is needed is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/ranks/job_waiting.h"
#include "analyze/ranks/names.h"
#include "core/error.h"
#include "core/progress.h"
#include "session/answer.h"

namespace gf {

struct RankInputs {
  std::vector<std::string> paths;  // files, folders of files
  std::uint64_t max_bytes = 64ull << 30;
  unsigned threads = 0;
  std::string without = {};              // a file among them that is not read
  std::vector<std::string> graphs = {};  // traces that tell the operators of CUDA graphs
  std::string devices = {};              // as AnalyzeOptions::devices, of each capture
  std::string window = "all";            // of each capture: all that ran belongs to the job
};

struct LoadedRanks {
  std::vector<RankPart> parts;
  std::vector<Error> failed;          // files that should hold a rank and could not be read
  std::vector<std::string> left_out;  // files of a folder that are no captures
  std::set<std::string> earlier;      // captures of a worker that has a later one
  std::map<std::string, std::size_t> captures;  // those read themselves: how many ranks each holds
  std::size_t told_by_graphs = 0;               // kernels whose operators `graphs` tell
};

/// Reads captures, and parts that `ranks --map` made of them. No more captures are in memory at
/// once than there are threads. Errors: a path that is not there, nothing to read, --graphs that
/// cannot be read.
Result<LoadedRanks> load_ranks(const RankInputs& inputs, const Progress& progress);

/// The captures that a folder itself holds, other than a profile of XLA; of no folder none.
std::vector<std::string> captures_of_folder(const std::string& path);

/// The captures of a list that a profiler wrote earlier of the same worker. Captures that PyTorch's
/// tensorboard_trace_handler names WORKER.TIME.pt.trace.json are windows of one worker, not ranks.
std::set<std::string> earlier_captures(const std::vector<std::string>& paths);

/// True if a file of this name is read when a folder that holds it is named.
bool looks_like_capture(std::string_view path);

/// Waiting for a job's other ranks, by their captures, read from `input`;
/// nothing when none are asked for. Files that cannot be read are told of with `tell` where nothing
/// else is left, and in the answer's quality.
Result<std::optional<JobWaiting>> find_waiting(const std::vector<std::string>& peers,
                                               const InputOptions& input, const Capture& capture,
                                               const Progress& progress,
                                               const std::function<void(const Error&)>& tell);

}  // namespace gf
