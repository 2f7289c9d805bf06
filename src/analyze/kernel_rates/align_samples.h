// Puts counter samples over the kernels that they measured. The two come from two clocks, mapped to
// the host's within some milliseconds, which drift apart; what the kernels do to the counters tells
// the rest.
#pragma once

#include <vector>

#include "analyze/kernel_rates/find_shift.h"
#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

struct AlignedSamples {
  struct Row {
    Interval span;               // moved onto the kernels' clock
    std::vector<double> values;  // by metric: ratios, or units per nanosecond for counts
    std::uint32_t stretch = 0;   // rows of one stretch were moved together
  };
  std::vector<Text> metrics;  // without gpu.busy
  std::vector<Row> rows;      // in order; only those within the time that kernels were recorded
  Intervals traced;           // that time
  Nanos shift_ns = 0;         // median of the shifts of all stretches
  double correlation = 0;     // of samples and what the kernels explain of them, after the shift
  ShiftFound found;           // what the first shift was found from; without rates
};

/// No rows when the device has no gpu.busy samples over its kernels, or no shift within 20 ms, or
/// more than one, makes them agree: found.verdict says which.
AlignedSamples align_samples(const Capture& capture, std::uint32_t device);

/// Rates of one metric, an index into AlignedSamples::metrics, by column of the fit.
struct SolvedMetric {
  std::size_t metric;
  std::vector<double> rates;
};
/// Moves every stretch of samples to where solved rates explain it best: finer than classes of
/// kernels do. `column_of`: by row of activities.
void refine_alignment(const Capture& capture, const std::vector<std::uint32_t>& column_of,
                      const std::vector<SolvedMetric>& solved, AlignedSamples& samples);

}  // namespace gf
