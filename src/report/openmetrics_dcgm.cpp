// The monitor's page with names, units and labels of dcgm-exporter, for dashboards that exist.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "model/metric_id.h"
#include "report/openmetrics.h"
#include "report/openmetrics_page.h"

namespace gf {

namespace {

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
    {"clock.sm"_metric, "DCGM_FI_DEV_SM_CLOCK", "gauge", 1e-6, false,
     "SM clock frequency (in MHz)."},
    {"clock.memory"_metric, "DCGM_FI_DEV_MEM_CLOCK", "gauge", 1e-6, false,
     "Memory clock frequency (in MHz)."},
    {"temperature.gpu"_metric, "DCGM_FI_DEV_GPU_TEMP", "gauge", 1, false,
     "GPU temperature (in C)."},
    {"temperature.memory"_metric, "DCGM_FI_DEV_MEMORY_TEMP", "gauge", 1, false,
     "Memory temperature (in C)."},
    {"power.average"_metric, "DCGM_FI_DEV_POWER_USAGE", "gauge", 1, false, "Power draw (in W)."},
    {"energy.module"_metric, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", 1e3, true,
     "Total energy consumption since boot (in mJ)."},
    {"pcie.replays"_metric, "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "counter", 1, true,
     "Total number of PCIe retries."},
    {"monitor.gpu"_metric, "DCGM_FI_DEV_GPU_UTIL", "gauge", 100, false, "GPU utilization (in %)."},
    {"monitor.memory"_metric, "DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", 100, false,
     "Memory utilization (in %)."},
    {"monitor.encoder"_metric, "DCGM_FI_DEV_ENC_UTIL", "gauge", 100, false,
     "Encoder utilization (in %)."},
    {"monitor.decoder"_metric, "DCGM_FI_DEV_DEC_UTIL", "gauge", 100, false,
     "Decoder utilization (in %)."},
    {"xid.last"_metric, "DCGM_FI_DEV_XID_ERRORS", "gauge", 1, false,
     "Value of the last XID error encountered."},
    {"rows.remapped_uncorrectable"_metric, "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "counter", 1,
     true, "Number of remapped rows for uncorrectable errors"},
    {"rows.remapped_correctable"_metric, "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "counter", 1,
     true, "Number of remapped rows for correctable errors"},
    {"rows.remap_failed"_metric, "DCGM_FI_DEV_ROW_REMAP_FAILURE", "gauge", 1, false,
     "Whether remapping of rows has failed"},
    {"nvlink.total", "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "gauge", 1e-6, false,
     "NVLink bandwidth of all lanes (in MB per second)."},
    {"memory.used"_metric, "DCGM_FI_DEV_FB_USED", "gauge", 1 / kMebibyte, false,
     "Framebuffer memory used (in MiB)."},
    {"memory.free", "DCGM_FI_DEV_FB_FREE", "gauge", 1 / kMebibyte, false,
     "Framebuffer memory free (in MiB)."},
    {"gpu.busy"_metric, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge", 1, false,
     "Ratio of time the graphics engine is active."},
    {"sm.active_any"_metric, "DCGM_FI_PROF_SM_ACTIVE", "gauge", 1, false,
     "The ratio of cycles an SM has at least 1 warp assigned."},
    {"sm.occupancy"_metric, "DCGM_FI_PROF_SM_OCCUPANCY", "gauge", 1, false,
     "The ratio of number of warps resident on an SM."},
    {"tensor.active"_metric, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gauge", 1, false,
     "Ratio of cycles the tensor (HMMA) pipe is active."},
    {"dram.active"_metric, "DCGM_FI_PROF_DRAM_ACTIVE", "gauge", 1, false,
     "Ratio of cycles the device memory interface is active sending or receiving data."},
    {"pipe.fp64"_metric, "DCGM_FI_PROF_PIPE_FP64_ACTIVE", "gauge", 1, false,
     "Ratio of cycles the fp64 pipes are active."},
    {"pipe.fma"_metric, "DCGM_FI_PROF_PIPE_FP32_ACTIVE", "gauge", 1, false,
     "Ratio of cycles the fp32 pipes are active."},
    {"pipe.fp16"_metric, "DCGM_FI_PROF_PIPE_FP16_ACTIVE", "gauge", 1, false,
     "Ratio of cycles the fp16 pipes are active."},
    {"pcie.tx"_metric, "DCGM_FI_PROF_PCIE_TX_BYTES", "gauge", 1, false,
     "The rate of data transmitted over the PCIe bus (in bytes per second)."},
    {"pcie.rx"_metric, "DCGM_FI_PROF_PCIE_RX_BYTES", "gauge", 1, false,
     "The rate of data received over the PCIe bus (in bytes per second)."},
    {"nvlink.tx"_metric, "DCGM_FI_PROF_NVLINK_TX_BYTES", "gauge", 1, false,
     "The rate of data transmitted over NVLink (in bytes per second)."},
    {"nvlink.rx"_metric, "DCGM_FI_PROF_NVLINK_RX_BYTES", "gauge", 1, false,
     "The rate of data received over NVLink (in bytes per second)."},
};

std::optional<double> value_of(const LiveGpu& gpu, const char* id) {
  const auto found = gpu.values.find(id);
  if (found == gpu.values.end()) return {};
  return found->second;
}

/// What the catalogue has in two parts.
std::optional<double> of_two(const LiveGpu& gpu, std::string_view id) {
  if (id == "memory.free") {
    const auto used = value_of(gpu, "memory.used"_metric);
    const auto total = value_of(gpu, "memory.total"_metric);
    if (used && total) return *total - *used;
  }
  if (id == "nvlink.total") {
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
  for (const auto& dcgm : kDcgm) {
    if (std::none_of(table.gpus.begin(), table.gpus.end(),
                     [&](const LiveGpu& gpu) { return dcgm_value(gpu, dcgm).has_value(); }))
      continue;
    // OpenMetrics would force _total onto dcgm-exporter's counters, and so break its dashboards:
    // declared unknown there.
    page.family(dcgm.name, options.openmetrics && dcgm.total ? "unknown" : dcgm.type, dcgm.help);
    for (const auto& gpu : table.gpus)
      if (const auto value = dcgm_value(gpu, dcgm))
        page.sample(dcgm.name, dcgm_labels(table, gpu, options.job_labels), *value);
  }
  add_ages(page, table, options.now_ns > 0 ? options.now_ns : table.time_ns);
  return page.finish();
}

}  // namespace gf
