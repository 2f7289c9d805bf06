// Puts counter samples over the kernels that they measured. The two come from two clocks, mapped to
// the host's within about a millisecond; the GPU's own busy counter, which both know, tells the
// rest.
#pragma once

#include <vector>

#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

struct AlignedSamples {
  struct Row {
    Interval span;               // moved onto the kernels' clock
    std::vector<double> values;  // by metric: ratios, or units per nanosecond for counts
  };
  std::vector<Text> metrics;  // without gpu.busy
  std::vector<Row> rows;      // in order; only those within the time that kernels were recorded
  Nanos shift_ns = 0;         // median of the shifts of all stretches
  double correlation = 0;     // of sampled and traced busy share after the shift; after
                              // refine_alignment, of samples and solved rates
};

/// Empty when the device has no gpu.busy samples over its kernels, or no shift within 20 ms makes
/// them agree.
AlignedSamples align_samples(const Capture& capture, std::uint32_t device);

/// Rates of one metric, an index into AlignedSamples::metrics, by column of the fit.
struct SolvedMetric {
  std::size_t metric;
  std::vector<double> rates;
};
/// Moves every stretch of samples to where solved rates explain it best: a GPU that is always busy
/// says little through its busy counter, but the kernels' rates make a pattern of their own.
/// `column_of`: by row of activities.
void refine_alignment(const Capture& capture, const std::vector<std::uint32_t>& column_of,
                      const std::vector<SolvedMetric>& solved, AlignedSamples& samples);

}  // namespace gf
