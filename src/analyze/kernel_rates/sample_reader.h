// Samples of hardware counters around recorded kernels, in the order in which they were taken. The
// map from the GPU's clock to the host's is made better while a recording runs, at which times of
// samples step back by up to some milliseconds: those steps are known to the nanosecond, as
// samples follow each other without a gap, and are taken out.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

/// The largest offset between the clocks of samples and kernels.
inline constexpr Nanos kShiftReach = 20 * kNsPerMs;

struct CounterSample {
  Interval span;               // without the clock's steps since the first sample
  Nanos steps = 0;             // what was taken out: span.start was written as that much less
  double busy = 0;             // gpu.busy
  std::vector<double> values;  // by metric: ratios, or units per nanosecond for counts
  bool whole = false;          // has every metric
};

struct CounterSamples {
  std::vector<Text> metrics;  // without gpu.busy
  std::vector<CounterSample> all;
};

/// Those of the device that lie within kShiftReach of the traced spans.
CounterSamples read_counter_samples(const Capture& capture, std::uint32_t device,
                                    const Intervals& traced);

/// Starts of the samples, in order, whose counters in the SMs hold a part of the sample: those
/// during which the host emptied the GPU's buffer, one in forty (H200, driver 580). Told by the SM
/// clock, which in one sample does not halve and come back.
std::vector<Nanos> cut_samples(const Capture& capture, std::uint32_t device,
                               std::span<const Interval> spans);

/// True for metrics that PM sampling counts in the SMs, on their clock.
bool counted_in_sms(std::string_view metric);

/// The stretches whose every kernel is known: of a recording with windows, each window from its
/// first activity to its last. `busy`: when the device's activities ran, not empty.
Intervals traced_spans(const Capture& capture, const Intervals& busy);

}  // namespace gf
