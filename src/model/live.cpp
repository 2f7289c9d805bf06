#include "model/live.h"

#include <fmt/format.h>

namespace gf {

void drop_stale(LiveTable& table, Nanos now) {
  if (table.stale_after_ns <= 0) return;
  for (auto& gpu : table.gpus) {
    const Nanos age = now - gpu.time_ns;
    if (age <= table.stale_after_ns) continue;
    gpu.stale = true;
    if (gpu.time_ns == 0) {
      gpu.missing = "the driver has not answered yet";
    } else {
      gpu.missing = fmt::format("the driver has not answered for {} s", age / kNsPerSecond);
    }
    gpu.window_ns = 0;
    gpu.values.clear();
    gpu.totals.clear();
    gpu.observed_ns = 0;
    gpu.throttle.clear();
    gpu.processes.clear();
  }
}

}  // namespace gf
