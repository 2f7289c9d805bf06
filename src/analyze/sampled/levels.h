// The ladder and the waterfall of a device from its samples.
#pragma once

#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/result.h"
#include "analyze/sampled/series.h"

namespace gf {

/// Means while there were samples, the waterfall's way down; NaN where nothing was sampled.
struct SampledMeans {
  double busy = NAN, active = NAN, issue = NAN, tensor = NAN, tensor_issue = NAN;
  double covered = 0;  // share of the span in which `busy` is known
};

/// Every metric that a rung can be read from.
std::vector<std::string_view> sampled_rung_metrics();

/// The rungs that were sampled over a span of so many nanoseconds, and their means. No rung is
/// above the one that holds it, the first one not above `most`.
struct SampledLadder {
  std::vector<Level> levels;
  SampledMeans means;
};
SampledLadder sampled_ladder(const Capture& capture, const std::vector<SampledSeries>& series,
                             Nanos span, double most = 1);

/// How the kernel bars share `busy` (a share of the same time as the means).
std::vector<double> sampled_split(const SampledMeans& means, double busy);

/// Fills busy, idle, levels and waterfall of a device whose id, name, start and span stand already.
/// Time without samples is unknown: a level is the interval from none of it to all of it. `source`:
/// pm_sampling, gpm, dcgm or nvml.
void measure_sampled_levels(const Capture& capture, const std::vector<SampledSeries>& series,
                            SampleSource source, DeviceUse& use);

/// The ladder over all devices: means weighted by their spans.
std::vector<Level> join_ladders(std::span<const DeviceUse> devices);

}  // namespace gf
