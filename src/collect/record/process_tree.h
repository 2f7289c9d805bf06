// CPU time and memory of a process and all its descendants, from /proc.
// The recorder's own use.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gf {

struct TreeUse {
  double cpu_seconds = 0;  // user and system time of the tree since it began, processes that have
                           // ended and were waited for included
  std::int64_t memory_bytes = 0;  // resident now; shared pages count once for each process
  int processes = 0;
};

/// CPU time of all descendants that this process, or a descendant of it that it waited for, has
/// waited for.
double ended_children_cpu_seconds();

class ProcessTree {
 public:
  explicit ProcessTree(pid_t root) : root_(root) {}
  TreeUse read();
  /// Processes seen at the last read.
  const std::vector<pid_t>& pids() const { return pids_; }

 private:
  pid_t root_;
  std::vector<pid_t> pids_;
  double cpu_most_ = 0;
};

struct OwnUse {
  double cpu_seconds = 0;
  std::int64_t memory_bytes = 0;   // resident now, pages of files included
  std::int64_t private_bytes = 0;  // resident and backed by no file
};
OwnUse own_use();

/// Gives back what only the start needed: pages of libraries that were read to link and initialize
/// them (they stay in the page cache, and come back when they are used) and free memory of the
/// allocator.
void drop_start_up_memory();

// The name that a process gives itself.

/// The name of a process from /proc, empty when it cannot be seen.
std::string process_name(std::int64_t pid);

}  // namespace gf
