// The number of cores that this process may run on, and its environment.
// The memory that this process may still take before the system ends it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace gf {

/// The cores that the process is allowed (taskset, a container's cpuset), which may be fewer than
/// the machine has. At least 1.
inline unsigned usable_cores() {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

/// The threads of work that somebody asked `asked` for, 0: as many as there are cores. Each takes
/// memory, and more than any machine has cores are a slip of the finger.
inline unsigned worker_threads(unsigned asked) {
  constexpr unsigned kMost = 1024;
  return asked ? std::min(asked, kMost) : usable_cores();
}

/// A variable of the environment; empty where it is not set.
inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct MemoryLeft {
  std::uint64_t left = 0, total = 0;  // bytes
  /// Less than a twentieth is left.
  bool runs_out() const { return left < total / 20; }
};

/// From the texts of /proc/meminfo and of memory.max and memory.current of the control group, which
/// are empty where there is none ("max": no bound). The smaller of the two; empty when neither
/// tells.
std::optional<MemoryLeft> memory_left(std::string_view meminfo, std::string_view group_max,
                                      std::string_view group_current);
/// The memory left on this machine and in this process's control group, now.
std::optional<MemoryLeft> memory_left();

}  // namespace gf
