// The processes of a run by whose they are: the program's, and the tool's that watches it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gf::cli {

/// Finds them by an environment variable that everything started by a run has, also what leaves its
/// parent; the program is the one that runs the command, and what that starts.
class RunProcesses {
 public:
  /// `marker`: VARIABLE=VALUE. `command`: the program's words. `daemons`: names of processes that
  /// work for the tool and run already.
  RunProcesses(std::string marker, std::vector<std::string> command,
               std::vector<std::string> daemons);

  /// Reads /proc; what ended since the last look is known as it was then.
  void look();
  /// Empty when no process was seen that is the tool's alone.
  std::optional<double> tool_cpu_seconds() const;
  std::int64_t tool_memory_bytes() const { return memory_; }

 private:
  struct Use {
    double first = 0, last = 0;  // CPU seconds
    bool daemon = false;
  };
  std::string marker_;
  std::string command_;  // as /proc shows it
  std::vector<std::string> daemons_;
  std::map<pid_t, Use> tool_;
  std::int64_t memory_ = 0;  // most resident memory of the tool's processes together
};

}  // namespace gf::cli
