#include "analyze/device_use.h"

namespace gf {

std::vector<DeviceUse> measure_devices(const Context& context) {
  std::vector<DeviceUse> devices;
  const Capture& capture = context.capture;
  for (const auto& line : context.devices) {
    DeviceUse use;
    use.id = capture.devices.id[line.device];
    use.name = capture.text(capture.devices.name[line.device]);
    use.start_ns = line.window.start;
    use.span_ns = line.window.length();
    use.busy_ns = total(line.busy);
    use.kernel_busy_ns = total(line.kernel_busy);
    use.copy_only_ns = use.busy_ns - use.kernel_busy_ns;
    use.idle_ns = use.span_ns - use.busy_ns;
    use.gpu_events = static_cast<std::int64_t>(line.rows.size());
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      if (capture.activities.kind[line.rows[i]] != ActivityKind::kernel) continue;
      ++use.kernels;
      use.kernel_time_sum_ns += line.spans[i].length();
    }
    devices.push_back(std::move(use));
  }
  return devices;
}

}  // namespace gf
