#include "import/telemetry/log_order.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace gf::telemetry {

Result<Capture> in_order(Result<Capture> log) {
  if (!log) return log;
  auto& samples = log->counter_samples;
  std::vector<Nanos> last(log->devices.size(), INT64_MIN);
  std::vector<std::int64_t> back(log->devices.size(), 0);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const auto device = samples.device[row];
    if (device == kNoRow) continue;
    back[device] += samples.start_ns[row] < last[device];
    last[device] = samples.start_ns[row];
  }
  for (std::uint32_t device = 0; device < back.size(); ++device)
    if (back[device] > 0)
      log->note_quality(QualityCode::clock_back,
                        fmt::format("the log's times of GPU {} go backwards: when its power was "
                                    "read is not known, and its power and energy are left out",
                                    log->devices.id[device]),
                        back[device]);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (samples.device[row] == kNoRow || back[samples.device[row]] == 0) continue;
    const auto metric = log->text(samples.metric[row]);
    if (metric.starts_with("power.") || metric.starts_with("energy.")) samples.value[row] = NAN;
  }
  return log;
}

}  // namespace gf::telemetry
