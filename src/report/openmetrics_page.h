// Writes a page of metrics: families and samples in OpenMetrics or in the older text format.
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

/// What every GPU's series tell: which one it is, and whose work it does when `job_labels`: what
/// all of its processes agree on.
std::string gpu_labels(const LiveGpu& gpu, bool job_labels);
/// One thing that all processes of the GPU whose job is known say of it; empty when they differ.
std::string common_job_value(const LiveGpu& gpu, const std::string& key);
/// A reading that grows old tells that the driver hangs; its series are gone by then.
void add_ages(MetricsPage& page, const LiveTable& table, Nanos now);
/// The page with names and labels of dcgm-exporter.
struct OpenMetricsOptions;
std::string dcgm_page(const LiveTable& table, const OpenMetricsOptions& options);

}  // namespace gf
