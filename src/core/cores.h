// How many cores this process may run on.
#pragma once

#include <algorithm>
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

}  // namespace gf
