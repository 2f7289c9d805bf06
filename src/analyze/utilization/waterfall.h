// The waterfall: every nanosecond of a device's window in exactly one bar.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/utilization/kernel_levels.h"

namespace gf {

/// Bars in the order idle, copy, waiting (where other ranks are known), sm_inactive, stalled,
/// other_instructions, tensor, unknown; they sum to use.span_ns exactly, and the parts of each bar
/// to the bar. `use` brings the idle causes.
/// The bars are explained in docs/ladder.md.
std::vector<WaterfallBar> waterfall(const Context& context, const DeviceTimeline& line,
                                    const DeviceUse& use, const KernelLevels& kernel_levels);

/// The split of one kernel's time; the parts sum to 1.
struct KernelSplit {
  double sm_inactive = 0, stalled = 0, other_instructions = 0, tensor = 0, unknown = 0;
};
KernelSplit split_kernel(std::uint32_t activity, const KernelLevels& kernel_levels);
/// The same from ratios of busy time; NaN where one is not known.
KernelSplit split_busy(double sm_active, double issue_active, double tensor_active,
                       double tensor_issue);

/// The bars that share out kernel time, in the order of KernelSplit's members.
inline constexpr std::array kKernelBars{Bar::sm_inactive, Bar::stalled, Bar::other_instructions,
                                        Bar::tensor, Bar::unknown};
/// The part of a bar that is sampled work without a record.
inline constexpr std::string_view kUnrecordedWork = "unrecorded work";
/// A bar without parts.
WaterfallBar waterfall_bar(Bar bar, Nanos ns);

// Kernel time by layer type where no counter says how deep the kernels go.

/// The parts of the waterfall's bar "no counters", over all devices: longest first, and they add up
/// to that bar.
std::vector<NamedTime> kernel_types_without_counters(const Analysis& analysis);

// Facts of counter samples about the analyzed window: levels of the whole GPU, which need no
// kernel, and work that no recorded kernel explains.

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
