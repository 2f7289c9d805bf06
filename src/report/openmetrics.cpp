#include "report/openmetrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/metrics.h"
#include "report/json.h"

namespace gf {

namespace {

/// A label's value: a process may call itself anything, and one bad byte would cost the whole page.
std::string escaped(std::string_view text) {
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

class Page {
 public:
  explicit Page(bool openmetrics) : openmetrics_(openmetrics) {}
  /// `name` of a counter ends in _total in both formats' samples; OpenMetrics declares it without.
  void family(std::string_view name, const char* type, std::string_view help) {
    std::string declared(name);
    if (openmetrics_ && std::string_view(type) == "counter" && declared.ends_with("_total"))
      declared.resize(declared.size() - 6);
    if (openmetrics_ && std::string_view(type) == "info" && declared.ends_with("_info"))
      declared.resize(declared.size() - 5);
    const char* shown = type;
    if (!openmetrics_ && std::string_view(type) == "info") shown = "gauge";
    out_ += fmt::format("# TYPE {} {}\n# HELP {} {}\n", declared, shown, declared, escaped(help));
  }
  void sample(std::string_view name, const std::string& labels, double value) {
    out_ += fmt::format("{}{{{}}} {}\n", name, labels,
                        std::isnan(value) ? "NaN" : fmt::format("{:.15g}", value));
  }
  std::string finish() {
    if (openmetrics_) out_ += "# EOF\n";
    return std::move(out_);
  }

 private:
  bool openmetrics_;
  std::string out_;
};

std::string own_labels(const LiveGpu& gpu) {
  std::string labels = fmt::format("gpu=\"{}\",uuid=\"{}\"", gpu.index, escaped(gpu.uuid));
  if (!gpu.instance.empty()) labels += fmt::format(",mig_instance=\"{}\"", escaped(gpu.instance));
  return labels;
}

/// A reading that grows old tells that the driver hangs; its series are gone by then.
void add_ages(Page& page, const LiveTable& table, Nanos now) {
  page.family("gpufathom_reading_age_seconds", "gauge",
              "Seconds since the GPU was last read; grows while the driver does not answer.");
  for (const auto& gpu : table.gpus)
    if (gpu.time_ns > 0)
      page.sample("gpufathom_reading_age_seconds", own_labels(gpu),
                  static_cast<double>(now - gpu.time_ns) * 1e-9);
}

/// "job.rank" as a label: job_rank.
std::string label_name(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

/// GPUs that are held for nothing, and whose processes hold them.
void add_holders(Page& page, const LiveTable& table) {
  page.family("gpufathom_held_idle_seconds", "gauge",
              "For how long processes have held memory of the GPU while nothing ran on it; 0 while "
              "something runs.");
  for (const auto& gpu : table.gpus)
    if (gpu.held_idle_seconds >= 0)
      page.sample("gpufathom_held_idle_seconds", own_labels(gpu), gpu.held_idle_seconds);
  page.family("gpufathom_process_info", "info",
              "Whose a process on the GPU is: job, rank, user, container, pod.");
  for (const auto& gpu : table.gpus)
    for (const auto& process : gpu.processes) {
      if (process.job.empty()) continue;
      std::string labels = own_labels(gpu) + fmt::format(",pid=\"{}\",process=\"{}\"", process.pid,
                                                         escaped(process.name));
      for (const auto& [key, value] : process.job)
        labels += fmt::format(",{}=\"{}\"", label_name(key), escaped(value));
      page.sample("gpufathom_process_info", labels, 1);
    }
}

std::string own_names(const LiveTable& table, const OpenMetricsOptions& options) {
  Page page(options.openmetrics);
  page.family("gpufathom_gpu_info", "info",
              "The GPUs: name, driver, and where the utilisation levels come from.");
  for (const auto& gpu : table.gpus)
    page.sample(
        "gpufathom_gpu_info",
        own_labels(gpu) + fmt::format(",name=\"{}\",driver=\"{}\",source=\"{}\"", escaped(gpu.name),
                                      escaped(table.driver), escaped(gpu.source)),
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
          page.sample(name, own_labels(gpu), found->second);
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
          page.sample(seconds, own_labels(gpu), found->second);
    }
  }
  add_holders(page, table);
  page.family("gpufathom_process_memory_bytes", "gauge", "GPU memory that a process holds.");
  for (const auto& gpu : table.gpus)
    for (const auto& process : gpu.processes)
      if (process.memory_bytes >= 0)
        page.sample("gpufathom_process_memory_bytes",
                    own_labels(gpu) + fmt::format(",pid=\"{}\",process=\"{}\"", process.pid,
                                                  escaped(process.name)),
                    static_cast<double>(process.memory_bytes));
  return page.finish();
}

struct DcgmName {
  const char* id;
  const char* name;
  const char* type;
  double scale;
  bool total;
  const char* help;
};
constexpr double kMebibyte = 1 << 20;
constexpr DcgmName kDcgm[] = {
    {"clock.sm", "DCGM_FI_DEV_SM_CLOCK", "gauge", 1e-6, false, "SM clock frequency (in MHz)."},
    {"clock.memory", "DCGM_FI_DEV_MEM_CLOCK", "gauge", 1e-6, false,
     "Memory clock frequency (in MHz)."},
    {"temperature.gpu", "DCGM_FI_DEV_GPU_TEMP", "gauge", 1, false, "GPU temperature (in C)."},
    {"power.average", "DCGM_FI_DEV_POWER_USAGE", "gauge", 1, false, "Power draw (in W)."},
    {"energy.module", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", 1e3, true,
     "Total energy consumption since boot (in mJ)."},
    {"monitor.gpu", "DCGM_FI_DEV_GPU_UTIL", "gauge", 100, false, "GPU utilization (in %)."},
    {"monitor.memory", "DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", 100, false,
     "Memory utilization (in %)."},
    {"memory.used", "DCGM_FI_DEV_FB_USED", "gauge", 1 / kMebibyte, false,
     "Framebuffer memory used (in MiB)."},
    {"memory.free", "DCGM_FI_DEV_FB_FREE", "gauge", 1 / kMebibyte, false,
     "Framebuffer memory free (in MiB)."},
    {"gpu.busy", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge", 1, false,
     "Ratio of time the graphics engine is active."},
    {"sm.active_any", "DCGM_FI_PROF_SM_ACTIVE", "gauge", 1, false,
     "The ratio of cycles an SM has at least 1 warp assigned."},
    {"sm.occupancy", "DCGM_FI_PROF_SM_OCCUPANCY", "gauge", 1, false,
     "The ratio of number of warps resident on an SM."},
    {"tensor.active", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gauge", 1, false,
     "Ratio of cycles the tensor (HMMA) pipe is active."},
    {"dram.active", "DCGM_FI_PROF_DRAM_ACTIVE", "gauge", 1, false,
     "Ratio of cycles the device memory interface is active sending or receiving data."},
    {"pipe.fp64", "DCGM_FI_PROF_PIPE_FP64_ACTIVE", "gauge", 1, false,
     "Ratio of cycles the fp64 pipes are active."},
    {"pipe.fma", "DCGM_FI_PROF_PIPE_FP32_ACTIVE", "gauge", 1, false,
     "Ratio of cycles the fp32 pipes are active."},
    {"pipe.fp16", "DCGM_FI_PROF_PIPE_FP16_ACTIVE", "gauge", 1, false,
     "Ratio of cycles the fp16 pipes are active."},
    {"pcie.tx", "DCGM_FI_PROF_PCIE_TX_BYTES", "gauge", 1, false,
     "The rate of data transmitted over the PCIe bus (in bytes per second)."},
    {"pcie.rx", "DCGM_FI_PROF_PCIE_RX_BYTES", "gauge", 1, false,
     "The rate of data received over the PCIe bus (in bytes per second)."},
    {"nvlink.tx", "DCGM_FI_PROF_NVLINK_TX_BYTES", "gauge", 1, false,
     "The rate of data transmitted over NVLink (in bytes per second)."},
    {"nvlink.rx", "DCGM_FI_PROF_NVLINK_RX_BYTES", "gauge", 1, false,
     "The rate of data received over NVLink (in bytes per second)."},
};

std::optional<double> dcgm_value(const LiveGpu& gpu, const DcgmName& name) {
  const auto& values = name.total ? gpu.totals : gpu.values;
  const auto found = values.find(name.id);
  if (found != values.end()) return found->second * name.scale;
  const auto used = values.find("memory.used"), total = values.find("memory.total");
  if (std::string_view(name.id) != "memory.free" || used == values.end() || total == values.end())
    return {};
  return (total->second - used->second) * name.scale;
}

std::string dcgm_labels(const LiveTable& table, const LiveGpu& gpu) {
  std::string labels = fmt::format("gpu=\"{}\",UUID=\"{}\",device=\"nvidia{}\",modelName=\"{}\"",
                                   gpu.index, escaped(gpu.uuid), gpu.index, escaped(gpu.name));
  if (!gpu.instance.empty())
    labels += fmt::format(",GPU_I_ID=\"{}\"", gpu.instance.substr(0, gpu.instance.find('/')));
  return labels + fmt::format(",Hostname=\"{}\",DCGM_FI_DRIVER_VERSION=\"{}\"", escaped(table.host),
                              escaped(table.driver));
}

std::string dcgm_names(const LiveTable& table, const OpenMetricsOptions& options) {
  Page page(options.openmetrics);
  for (const auto& dcgm : kDcgm) {
    if (std::none_of(table.gpus.begin(), table.gpus.end(),
                     [&](const LiveGpu& gpu) { return dcgm_value(gpu, dcgm).has_value(); }))
      continue;
    // OpenMetrics would force _total onto dcgm-exporter's counters, and so break its dashboards:
    // declared unknown there.
    page.family(dcgm.name, options.openmetrics && dcgm.total ? "unknown" : dcgm.type, dcgm.help);
    for (const auto& gpu : table.gpus)
      if (const auto value = dcgm_value(gpu, dcgm))
        page.sample(dcgm.name, dcgm_labels(table, gpu), *value);
  }
  add_ages(page, table, options.now_ns > 0 ? options.now_ns : table.time_ns);
  return page.finish();
}

}  // namespace

std::string open_metrics(const LiveTable& table, const OpenMetricsOptions& options) {
  if (options.dcgm_names) return dcgm_names(table, options);
  return own_names(table, options);
}

const char* open_metrics_type(const OpenMetricsOptions& options) {
  if (options.openmetrics) return "application/openmetrics-text; version=1.0.0; charset=utf-8";
  return "text/plain; version=0.0.4; charset=utf-8";
}

}  // namespace gf
