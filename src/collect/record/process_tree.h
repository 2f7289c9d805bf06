// CPU time and memory of a process and all its descendants, from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace gf {

struct TreeUse {
  double cpu_seconds = 0;  // user and system time of the tree since it began, processes that have ended included
  std::int64_t memory_bytes = 0;  // resident now; shared pages count once for each process
  int processes = 0;
};

class ProcessTree {
 public:
  explicit ProcessTree(pid_t root) : root_(root) {}
  TreeUse read();
  /// Processes seen at the last read.
  const std::vector<pid_t>& pids() const { return pids_; }

 private:
  pid_t root_;
  std::vector<pid_t> pids_;
  std::map<pid_t, double> cpu_;  // last CPU time of each process ever seen: what ended keeps counting
};

}  // namespace gf
