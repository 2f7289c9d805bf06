// The metrics of the catalog that a reading of NVML gives: one table for the recorder and the
// monitor.
#pragma once

#include <optional>
#include <span>

#include "collect/nvml/nvml.h"

namespace gf {

struct ReadingMetric {
  const char* id;  // of the metric catalog
  bool counter;    // grows from the driver's start on; else a value of the moment
  std::optional<double> (*of)(const GpuReading&);  // in the catalog's unit; empty: no data
};
std::span<const ReadingMetric> reading_metrics();

}  // namespace gf
