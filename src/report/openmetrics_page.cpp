#include "report/openmetrics_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "report/json.h"

namespace gf {

std::string escaped_label(std::string_view text) {
  std::string out, valid;
  append_utf8(valid, text);
  for (char letter : valid) {
    if (letter == '\\' || letter == '"') out += '\\';
    if (letter == '\n')
      out += "\\n";
    else
      out += letter;
  }
  return out;
}

void MetricsPage::family(std::string_view name, const char* type, std::string_view help) {
  std::string declared(name);
  if (openmetrics_ && std::string_view(type) == "counter" && declared.ends_with("_total"))
    declared.resize(declared.size() - 6);
  if (openmetrics_ && std::string_view(type) == "info" && declared.ends_with("_info"))
    declared.resize(declared.size() - 5);
  const char* shown = type;
  if (!openmetrics_ && std::string_view(type) == "info") shown = "gauge";
  out_ +=
      fmt::format("# TYPE {} {}\n# HELP {} {}\n", declared, shown, declared, escaped_label(help));
}

void MetricsPage::sample(std::string_view name, const std::string& labels, double value) {
  std::string shown = "NaN";
  if (!std::isnan(value)) shown = fmt::format("{:.15g}", value);
  out_ += fmt::format("{}{{{}}} {}\n", name, labels, shown);
}

std::string MetricsPage::finish() {
  if (openmetrics_) out_ += "# EOF\n";
  return std::move(out_);
}

std::string common_job_value(const LiveGpu& gpu, const std::string& key) {
  std::string common;
  for (const auto& process : gpu.processes) {
    const auto found = process.job.find(key);
    if (found == process.job.end()) continue;
    if (!common.empty() && common != found->second) return {};
    common = found->second;
  }
  return common;
}

std::string gpu_labels(const LiveGpu& gpu, bool job_labels) {
  std::string labels = fmt::format("gpu=\"{}\",uuid=\"{}\"", gpu.index, escaped_label(gpu.uuid));
  if (!gpu.instance.empty())
    labels += fmt::format(",mig_instance=\"{}\"", escaped_label(gpu.instance));
  if (!job_labels) return labels;
  constexpr std::array<const char*, 7> keys{
      "job.id",         "job.name",          "job.user", "job.rank", "kubernetes.namespace",
      "kubernetes.pod", "kubernetes.pod_uid"};
  for (const std::string key : keys) {
    const std::string value = common_job_value(gpu, key);
    std::string name = key;
    std::replace(name.begin(), name.end(), '.', '_');
    if (!value.empty()) labels += fmt::format(",{}=\"{}\"", name, escaped_label(value));
  }
  return labels;
}

void add_ages(MetricsPage& page, const LiveTable& table, Nanos now) {
  page.family("gpufathom_reading_age_seconds", "gauge",
              "Seconds since the GPU was last read; grows while the driver does not answer.");
  for (const auto& gpu : table.gpus)
    if (gpu.time_ns > 0)
      page.sample("gpufathom_reading_age_seconds", gpu_labels(gpu, false),
                  static_cast<double>(now - gpu.time_ns) * 1e-9);
}

}  // namespace gf
