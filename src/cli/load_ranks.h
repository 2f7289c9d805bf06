// Reading the files of many ranks: several at once, and of each only what is needed is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/ranks/result.h"
#include "core/error.h"
#include "core/progress.h"

namespace gf::cli {

struct RankInputs {
  std::vector<std::string> paths;  // files, folders of files
  std::uint64_t max_bytes = 64ull << 30;
  unsigned threads = 0;
  std::string without = {};  // a file among them that is not read
};

struct LoadedRanks {
  std::vector<RankPart> parts;
  std::vector<Error> failed;          // files that should hold a rank and could not be read
  std::vector<std::string> left_out;  // files of a folder that are no captures
};

/// Reads captures, and parts that `ranks --map` made of them. No more captures are in memory at
/// once than there are threads. Errors: a path that is not there, nothing to read.
Result<LoadedRanks> load_ranks(const RankInputs& inputs, const Progress& progress);

/// Whether `path` is a folder that holds captures of its own, other than a profile of XLA.
bool is_folder_of_ranks(const std::string& path);

}  // namespace gf::cli
