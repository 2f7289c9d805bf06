#include "report/openmetrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "model/metrics.h"
#include "report/json.h"
#include "report/serving_series.h"

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
  const char* shown = !openmetrics_ && std::string_view(type) == "info" ? "gauge" : type;
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
                  static_cast<double>(std::max<Nanos>(0, now - gpu.time_ns)) * 1e-9);
}

namespace {

/// "job.rank" as a label: job_rank.
std::string label_name(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::string process_labels(const LiveGpu& gpu, const LiveProcess& process, bool job) {
  std::string labels = gpu_labels(gpu, false);
  labels += fmt::format(",pid=\"{}\",process=\"{}\"", process.pid, escaped_label(process.name));
  if (!job) return labels;
  for (const auto& [key, value] : process.job)
    labels += fmt::format(",{}=\"{}\"", label_name(key), escaped_label(value));
  return labels;
}

/// Two clocks with the labels of a GPU: what a new job's counters gained, over what these gained,
/// is a mean from the second scrape on, as rate() over a range that began before the job is not.
/// One begins again with the monitor, as the shares do; the driver's counters (joules) go on.
void add_observed(MetricsPage& page, const LiveTable& table, const OpenMetricsOptions& options) {
  constexpr const char* kObserved = "gpufathom_observed_seconds_total";
  page.family(kObserved, "counter",
              "Time over which the levels were read since the monitor began: a counter of seconds "
              "of full use over it is a mean.");
  for (const auto& gpu : table.gpus)
    if (gpu.observed_ns > 0)
      page.sample(kObserved, gpu_labels(gpu, options.job_labels),
                  static_cast<double>(gpu.observed_ns) * 1e-9);
  constexpr const char* kRead = "gpufathom_read_seconds_total";
  page.family(kRead, "counter",
              "When the GPU was last read, in seconds since 1970: the time over which the driver's "
              "own counters, as joules, gained what they did.");
  for (const auto& gpu : table.gpus)
    if (gpu.time_ns > 0)
      page.sample(kRead, gpu_labels(gpu, options.job_labels),
                  static_cast<double>(gpu.time_ns) * 1e-9);
}

/// GPUs that are held for nothing, and whose processes hold them.
void add_holders(MetricsPage& page, const LiveTable& table, const OpenMetricsOptions& options) {
  page.family("gpufathom_held_idle_seconds", "gauge",
              "For how long processes have held memory of the GPU while nothing ran on it; 0 while "
              "something runs.");
  for (const auto& gpu : table.gpus)
    if (gpu.held_idle_seconds >= 0)
      page.sample("gpufathom_held_idle_seconds", gpu_labels(gpu, options.job_labels),
                  gpu.held_idle_seconds);
  page.family("gpufathom_process_info", "info",
              "Whose a process on the GPU is: job, rank, user, container, pod.");
  for (const auto& gpu : table.gpus)
    for (const auto& process : gpu.processes) {
      if (process.job.empty()) continue;
      const std::string labels = process_labels(gpu, process, true);
      page.sample("gpufathom_process_info", labels, 1);
    }
}

/// Programs that serve, in the newest window of their kernels.
void add_serving(MetricsPage& page, const LiveTable& table) {
  for (const auto& series : serving_series(table)) {
    const std::string name = fmt::format("gpufathom_serving_{}", series.name);
    page.family(name, "gauge", series.help);
    for (const auto& point : series.points) {
      std::string labels = fmt::format("pid=\"{}\",process=\"{}\"", point.program->pid,
                                       escaped_label(point.program->name));
      if (!point.kind.empty()) labels += fmt::format(",kind=\"{}\"", point.kind);
      if (!point.quantile.empty()) labels += fmt::format(",quantile=\"{}\"", point.quantile);
      page.sample(name, labels, point.value);
    }
  }
}

std::string own_names(const LiveTable& table, const OpenMetricsOptions& options) {
  MetricsPage page(options.openmetrics);
  page.family("gpufathom_gpu_info", "info",
              "The GPUs: name, driver, and where the utilization levels come from.");
  for (const auto& gpu : table.gpus)
    page.sample("gpufathom_gpu_info",
                gpu_labels(gpu, options.job_labels) +
                    fmt::format(",name=\"{}\",driver=\"{}\",source=\"{}\"", escaped_label(gpu.name),
                                escaped_label(table.driver), escaped_label(gpu.source)),
                1);
  add_ages(page, table, options.now_ns > 0 ? options.now_ns : table.time_ns);
  add_observed(page, table, options);
  for (const auto& metric : metrics()) {
    const std::string id(metric.id), name = "gpufathom_" + std::string(metric.openmetrics);
    const bool counter = name.ends_with("_total");
    bool any = false, ratio = false;
    for (const auto& gpu : table.gpus) {
      any |= (counter ? gpu.totals : gpu.values).count(id) > 0;
      ratio |= metric.unit == "ratio" && gpu.totals.count(id) > 0;
    }
    if (any) {
      page.family(name, counter ? "counter" : "gauge", metric.definition);
      for (const auto& gpu : table.gpus) {
        const auto& values = counter ? gpu.totals : gpu.values;
        if (auto found = values.find(id); found != values.end())
          page.sample(name, gpu_labels(gpu, options.job_labels), found->second);
      }
    }
    if (ratio) {  // the integral of a share: its rate() over any range is the average share of that
                  // range
      const std::string seconds = name.substr(0, name.size() - 6) + "_seconds_total";
      page.family(
          seconds, "counter",
          fmt::format("Seconds of full use, the integral over time of: {}", metric.definition));
      for (const auto& gpu : table.gpus)
        if (auto found = gpu.totals.find(id); found != gpu.totals.end())
          page.sample(seconds, gpu_labels(gpu, options.job_labels), found->second);
    }
  }
  add_holders(page, table, options);
  add_serving(page, table);
  page.family("gpufathom_process_memory_bytes", "gauge", "GPU memory that a process holds.");
  for (const auto& gpu : table.gpus)
    for (const auto& process : gpu.processes)
      if (process.memory_bytes >= 0)
        page.sample("gpufathom_process_memory_bytes",
                    process_labels(gpu, process, options.job_labels),
                    static_cast<double>(process.memory_bytes));
  return page.finish();
}

}  // namespace

std::string open_metrics(const LiveTable& table, const OpenMetricsOptions& options) {
  return options.dcgm_names ? dcgm_page(table, options) : own_names(table, options);
}

const char* open_metrics_type(const OpenMetricsOptions& options) {
  if (options.openmetrics) return "application/openmetrics-text; version=1.0.0; charset=utf-8";
  return "text/plain; version=0.0.4; charset=utf-8";
}

namespace {

// Fields that are one in DCGM and two metrics in the catalog.
constexpr const char* kFree = "memory.free";
constexpr const char* kBothWays = "nvlink.total";
struct DcgmName {
  std::string id, name;
  double scale = 1;
  bool total = false;
  std::string_view help;
};

/// Name, unit and help of dcgm-exporter's default fields; then the two that have no metric.
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

/// The value of a metric that the catalog has in two parts.
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

/// The job, under the labels of dcgm-exporter.
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
