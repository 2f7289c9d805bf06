// The ways to watch a program that this machine offers.
#pragma once

#include <string>
#include <vector>

#include "cli/live/overhead/run_files.h"

namespace gf::cli {

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
