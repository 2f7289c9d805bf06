#include "report/openmetrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/metrics.h"
#include "report/openmetrics_page.h"

namespace gf {

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

std::string own_names(const LiveTable& table, const OpenMetricsOptions& options) {
  MetricsPage page(options.openmetrics);
  page.family("gpufathom_gpu_info", "info",
              "The GPUs: name, driver, and where the utilisation levels come from.");
  for (const auto& gpu : table.gpus)
    page.sample("gpufathom_gpu_info",
                gpu_labels(gpu, options.job_labels) +
                    fmt::format(",name=\"{}\",driver=\"{}\",source=\"{}\"", escaped_label(gpu.name),
                                escaped_label(table.driver), escaped_label(gpu.source)),
                1);
  add_ages(page, table, options.now_ns > 0 ? options.now_ns : table.time_ns);
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
  if (options.dcgm_names) return dcgm_page(table, options);
  return own_names(table, options);
}

const char* open_metrics_type(const OpenMetricsOptions& options) {
  if (options.openmetrics) return "application/openmetrics-text; version=1.0.0; charset=utf-8";
  return "text/plain; version=0.0.4; charset=utf-8";
}

}  // namespace gf
