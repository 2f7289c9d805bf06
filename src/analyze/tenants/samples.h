// The samples of a device over the times at which all its processes were recorded.
#pragma once

#include <vector>

#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

struct TenantSamples {
  struct Row {
    Interval span;
    std::vector<double> rates;  // by metric: ratios, or units a nanosecond
  };
  std::vector<Text> metrics;
  std::vector<Row> rows;  // in order, each within one of the spans
  bool aligned = false;   // laid over the kernels sample by sample, else means of 100 ms
};

/// Levels and counts of the work of a device; no rows when there are no samples.
TenantSamples tenant_samples(const Capture& capture, std::uint32_t device, const Intervals& known);

}  // namespace gf
