// The ladder and the waterfall of a device from its samples.
#pragma once

#include "analyze/result.h"
#include "analyze/sampled/series.h"

namespace gf {

/// Fills busy, idle, levels and waterfall of a device whose id, name, start and span stand already.
/// Time without samples is unknown: a level is the interval from none of it to all of it. `source`:
/// pm_sampling, gpm, dcgm or nvml.
void measure_sampled_levels(const Capture& capture, const std::vector<SampledSeries>& series,
                            SampleSource source, DeviceUse& use);

/// The ladder over all devices: means weighted by their spans.
std::vector<Level> join_ladders(const std::vector<DeviceUse>& devices);

}  // namespace gf
