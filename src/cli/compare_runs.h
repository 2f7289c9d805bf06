// From the words of `compare` to what is compared: captures read, by version of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/compare/version.h"
#include "cli/output.h"
#include "session/answer.h"

namespace gf::cli {

struct CompareArguments {
  std::vector<std::string> captures;
  std::vector<std::string> after;  // of the second version, where `captures` are all of the first
  std::string baseline;            // file of the first version
  bool save = false;               // `captures` become that file
  std::vector<std::string> counters, graphs;
  std::vector<std::int64_t> batches;
  std::vector<std::string> fail_on;
  std::string window, devices, junit, comment;
  bool github = false, allow_incomplete = false, full = false, bisect = false;
  std::optional<std::size_t> rows;
  OutputOptions output;
  std::string axes, table;
  InputOptions limits;  // max_bytes and threads

  /// All captures are of one version: the one that is kept, or the one held against it.
  bool one_version() const { return !baseline.empty(); }
};

/// The parts that are read of the captures, one after the other: two in memory would be too much.
struct ComparedRuns {
  std::vector<std::string> paths;
  std::vector<ComparedVersion> captures;  // each as a version of its own
  std::vector<std::vector<std::string>> missing;
};

/// Reads and analyses all captures; says what is wrong when it cannot, and gives the exit code.
std::optional<int> read_runs(const CompareArguments& options, ComparedRuns& runs);

/// The compared runs, and whether all captures of each are complete.
struct ComparedVersions {
  std::vector<ComparedVersion> versions;
  std::vector<bool> whole;
};

/// Every capture is a version of its own; or, with --after, all before it are one and all behind it
/// another; or, with --baseline, all are one.
ComparedVersions versions_of(const CompareArguments& options, ComparedRuns& runs);

}  // namespace gf::cli
