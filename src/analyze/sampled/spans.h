// When the devices of a sampled run worked, and since when they worked steadily.
#pragma once

#include <vector>

#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

struct SampleOverview {
  Interval extent{0, 0};  // from the first to the last sample of a device; empty when there is none
  std::vector<Text> work;  // by device: what says whether it works: gpu.busy, else NVML's
                           // utilisation; none without either
};
SampleOverview look_over_samples(const Capture& capture);

struct ActiveSpans {
  std::vector<Interval>
      working;  // by device: from its first to its last stretch of work; empty when it never worked
  std::vector<Interval> settled;  // by device: what is left without the beginning and the end that
                                  // differ from the rest; empty when nothing settles
};
/// Work is a tenth of a second (or one sample, when longer) that is busy for over 2 %: drivers and
/// monitors tick. Settled, after the rule for stable steps: from the first of three cells in a row
/// that lie within 3 median absolute deviations (at least 5 points) of the median of the last half,
/// to the last one that does; a cell is a hundredth of the span, at least half a second.
ActiveSpans active_spans(const Capture& capture, const std::vector<Text>& work, Interval within);

/// From the first start to the last end of those that are not empty.
Interval hull(const std::vector<Interval>& spans);

}  // namespace gf
