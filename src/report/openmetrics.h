// Writes a page of metrics: families and samples in OpenMetrics or in the older text format.
// The monitor's table for Prometheus: base units, counters where rates matter (seconds of full use,
// joules, bytes), names from the metric catalog. Processes stand on an info metric of their own,
// so that they multiply no other series.
#pragma once

#include <string>
#include <string_view>

#include "model/live.h"

namespace gf {

/// A label's value: a process may call itself anything, and one bad byte would cost the whole page.
std::string escaped_label(std::string_view text);

class MetricsPage {
 public:
  explicit MetricsPage(bool openmetrics) : openmetrics_(openmetrics) {}
  /// `name` of a counter ends in _total in both formats' samples; OpenMetrics declares it without.
  void family(std::string_view name, const char* type, std::string_view help);
  void sample(std::string_view name, const std::string& labels, double value);
  std::string finish();

 private:
  bool openmetrics_;
  std::string out_;
};

/// Labels of every GPU's series: which one it is, and whose work it does when `job_labels`: what
/// all of its processes agree on.
std::string gpu_labels(const LiveGpu& gpu, bool job_labels);
/// One thing that all processes of the GPU whose job is known say of it; empty when they differ.
std::string common_job_value(const LiveGpu& gpu, const std::string& key);
/// A reading that grows old tells that the driver hangs; its series are gone by then.
void add_ages(MetricsPage& page, const LiveTable& table, Nanos now);
/// The page with names and labels of dcgm-exporter.
struct OpenMetricsOptions;
std::string dcgm_page(const LiveTable& table, const OpenMetricsOptions& options);

struct OpenMetricsOptions {
  bool openmetrics = true;  // false: the older Prometheus text format 0.0.4
  bool dcgm_names = false;  // DCGM_FI_... names and labels of dcgm-exporter instead of our own
  bool job_labels = false;  // whose work a GPU does, on each of its series
  Nanos now_ns = 0;         // for the age of the readings; 0: when the table was made
};

std::string open_metrics(const LiveTable& table, const OpenMetricsOptions& options);
/// The Content-Type that belongs to it.
const char* open_metrics_type(const OpenMetricsOptions& options);

// The monitor's table as an OpenTelemetry metrics request (OTLP, protobuf): the names of the
// semantic conventions for hardware (hw.gpu.*), and the catalog's own for what those lack.

/// An ExportMetricsServiceRequest, to be posted to a collector's /v1/metrics as
/// application/x-protobuf.
std::string otlp_metrics(const LiveTable& table);

}  // namespace gf
