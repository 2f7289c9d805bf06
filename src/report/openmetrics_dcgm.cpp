// The monitor's page with names, units and labels of dcgm-exporter, for dashboards that exist.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "model/metric_id.h"
#include "model/metrics.h"
#include "report/openmetrics.h"
#include "report/openmetrics_page.h"

namespace gf {

namespace {

// What DCGM has as one field and the catalogue as two metrics.
constexpr const char* kFree = "memory.free";
constexpr const char* kBothWays = "nvlink.total";
struct DcgmName {
  std::string id, name;
  double scale = 1;
  bool total = false;
  std::string_view help;
};

/// Of dcgm-exporter's default fields name, unit and help; then the two that have no metric.
std::vector<DcgmName> dcgm_names() {
  std::vector<DcgmName> names;
  for (const MetricInput& field : metric_inputs()) {
    if (field.help.empty()) continue;
    const MetricTerm term = term_of(field);
    names.push_back({std::string(field.metric), std::string(term.counter), 1 / term.factor,
                     find_metric(field.metric)->openmetrics.ends_with("_total") && !term.rate,
                     field.help});
  }
  names.push_back({kBothWays, "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", 1e-6, false,
                   "NVLink bandwidth of all lanes (in MB per second)."});
  names.push_back(
      {kFree, "DCGM_FI_DEV_FB_FREE", 1.0 / (1 << 20), false, "Framebuffer memory free (in MiB)."});
  return names;
}

std::optional<double> value_of(const LiveGpu& gpu, const char* id) {
  const auto found = gpu.values.find(id);
  if (found == gpu.values.end()) return {};
  return found->second;
}

/// What the catalogue has in two parts.
std::optional<double> of_two(const LiveGpu& gpu, std::string_view id) {
  if (id == kFree) {
    const auto used = value_of(gpu, "memory.used"_metric);
    const auto total = value_of(gpu, "memory.total"_metric);
    if (used && total) return *total - *used;
  }
  if (id == kBothWays) {
    const auto sent = value_of(gpu, "nvlink.tx"_metric);
    const auto received = value_of(gpu, "nvlink.rx"_metric);
    if (sent && received) return *sent + *received;
  }
  return {};
}

std::optional<double> dcgm_value(const LiveGpu& gpu, const DcgmName& name) {
  const auto& values = name.total ? gpu.totals : gpu.values;
  if (const auto found = values.find(name.id); found != values.end())
    return found->second * name.scale;
  if (const auto value = of_two(gpu, name.id)) return *value * name.scale;
  return {};
}

/// OpenMetrics would force _total onto dcgm-exporter's counters, and so break its dashboards:
/// declared unknown there.
const char* type_of(const DcgmName& name, bool openmetrics) {
  if (!name.total) return "gauge";
  return openmetrics ? "unknown" : "counter";
}

/// Whose work it is, under the labels of dcgm-exporter.
std::string dcgm_job_labels(const LiveGpu& gpu) {
  constexpr std::array<std::pair<const char*, const char*>, 3> labels{
      {{"hpc_job", "job.id"}, {"namespace", "kubernetes.namespace"}, {"pod", "kubernetes.pod"}}};
  std::string out;
  for (const auto& [label, key] : labels)
    if (const std::string value = common_job_value(gpu, key); !value.empty())
      out += fmt::format(",{}=\"{}\"", label, escaped_label(value));
  return out;
}

std::string dcgm_labels(const LiveTable& table, const LiveGpu& gpu, bool job_labels) {
  std::string labels =
      fmt::format("gpu=\"{}\",UUID=\"{}\",device=\"nvidia{}\",modelName=\"{}\"", gpu.index,
                  escaped_label(gpu.uuid), gpu.index, escaped_label(gpu.name));
  if (!gpu.instance.empty())
    labels += fmt::format(",GPU_I_ID=\"{}\"", gpu.instance.substr(0, gpu.instance.find('/')));
  if (job_labels) labels += dcgm_job_labels(gpu);
  return labels + fmt::format(",Hostname=\"{}\",DCGM_FI_DRIVER_VERSION=\"{}\"",
                              escaped_label(table.host), escaped_label(table.driver));
}

}  // namespace

std::string dcgm_page(const LiveTable& table, const OpenMetricsOptions& options) {
  MetricsPage page(options.openmetrics);
  for (const DcgmName& dcgm : dcgm_names()) {
    if (std::none_of(table.gpus.begin(), table.gpus.end(),
                     [&](const LiveGpu& gpu) { return dcgm_value(gpu, dcgm).has_value(); }))
      continue;
    page.family(dcgm.name, type_of(dcgm, options.openmetrics), dcgm.help);
    for (const auto& gpu : table.gpus)
      if (const auto value = dcgm_value(gpu, dcgm))
        page.sample(dcgm.name, dcgm_labels(table, gpu, options.job_labels), *value);
  }
  add_ages(page, table, options.now_ns > 0 ? options.now_ns : table.time_ns);
  return page.finish();
}

}  // namespace gf
