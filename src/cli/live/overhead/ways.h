// What a run leaves on disk, and how long it takes to make something of it.
// The ways to watch a program that this machine offers.
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

struct Way {
  std::string name;
  std::vector<std::string> before;   // words in front of the command
  std::vector<std::string> beside;   // a program that runs at its side
  std::vector<std::string> command;  // instead of the command, when the tool changes it
  std::string summary;               // file in which the tool says what it took itself
  int kernels = 0;  // what the tool is bounded to, 0: everything. Run once, not in rounds
  AfterRun after;   // what makes an answer of what it leaves
  std::vector<std::string> daemons;  // processes that work for it and run already
};

struct WaysWanted {
  std::string self;  // this program
  std::string work;  // folder for helpers; lives as long as the comparison
  std::string out;   // folder for what one run leaves; emptied after each
  std::vector<std::string> command;
  std::vector<std::string> only;  // names; empty: all that there are
  int ncu_kernels = 200;          // Nsight Compute stops after so many
};
std::vector<Way> ways_to_watch(const WaysWanted& wanted);

}  // namespace gf::cli
