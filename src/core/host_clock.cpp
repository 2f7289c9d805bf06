#include "core/host_clock.h"

#include <ctime>

namespace gf {

Nanos host_now() {
  auto read = [](clockid_t id) {
    timespec moment{};
    clock_gettime(id, &moment);
    return static_cast<Nanos>(moment.tv_sec) * kNsPerSecond + moment.tv_nsec;
  };
  static const Nanos offset = read(CLOCK_REALTIME) - read(CLOCK_MONOTONIC);
  return offset + read(CLOCK_MONOTONIC);
}

}  // namespace gf
