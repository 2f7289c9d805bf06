// What a run leaves on disk, and how long it takes to make something of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gf::cli {

/// Words of a command, in which {FILE} stands for what the run left.
struct AfterRun {
  std::string ending;                // of the file's name
  std::vector<std::string> convert;  // by the tool itself, into what others can read; empty: none
  std::string converted;             // ending of what that leaves
  std::vector<std::string> analyse;  // an answer from the file, or from what it was converted to
};

struct AfterRunTimes {
  std::optional<double> convert_seconds, analyse_seconds;
};

/// Runs both on the largest file of the folder with that ending. No time of what cannot be run.
AfterRunTimes time_after_run(const AfterRun& after, const std::string& folder);

}  // namespace gf::cli
