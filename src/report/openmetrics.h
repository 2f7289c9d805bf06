// The monitor's table for Prometheus: base units, counters where rates matter (seconds of full use,
// joules, bytes), names from the metric catalogue. Processes stand on an info metric of their own,
// so that they multiply no other series.
#pragma once

#include <string>

#include "model/live.h"

namespace gf {

struct OpenMetricsOptions {
  bool openmetrics = true;  // false: the older Prometheus text format 0.0.4
  bool dcgm_names = false;  // DCGM_FI_... names and labels of dcgm-exporter instead of our own
  bool job_labels = false;  // whose work a GPU does, on each of its series
  Nanos now_ns = 0;         // for the age of the readings; 0: when the table was made
};

std::string open_metrics(const LiveTable& table, const OpenMetricsOptions& options);
/// The Content-Type that belongs to it.
const char* open_metrics_type(const OpenMetricsOptions& options);

}  // namespace gf
