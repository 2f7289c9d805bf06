// What counter samples say of the analyzed window: levels of the whole GPU, which need no kernel,
// and work that no recorded kernel explains.
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"

namespace gf {

/// Time in which samples show work on a device and nothing that was recorded ran, beyond what the
/// gaps between kernels and two clocks leave open, leaves idle time: `unrecorded_ns` of the device,
/// taken from unexplained gaps first; a quality note says what it can be. Needs the idle causes.
struct UnrecordedWork {
  std::vector<DeviceUse> devices;
  std::vector<QualityNote> quality;
};
UnrecordedWork leave_unrecorded_work(const Context& context, std::vector<DeviceUse> devices);

/// Where counters of kernels leave levels open, the samples of each device's window give them, and
/// share out the bar `unknown`; kernels with counters keep their parts. Needs the ladder and the
/// waterfall.
struct SampledLevels {
  std::vector<DeviceUse> devices;
  std::optional<std::vector<Level>> levels;  // of all devices, where samples gave any
};
SampledLevels add_sampled_levels(const Context& context, std::vector<DeviceUse> devices);

}  // namespace gf
