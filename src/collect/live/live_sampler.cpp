#include "collect/live/live_sampler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "model/metrics.h"

namespace gf {

namespace {

bool is_ratio(std::string_view id) {
  const auto* metric = find_metric(id);
  return metric && metric->unit == "ratio";
}

void put(std::map<std::string, double>& values, const char* id, const std::optional<double>& value,
         double scale = 1) {
  if (value) values[id] = *value * scale;
}

}  // namespace

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

Result<LiveSampler> LiveSampler::open(const std::vector<unsigned>& devices) {
  auto nvml = Nvml::open();
  if (!nvml) return tl::unexpected(nvml.error());
  LiveSampler sampler(std::move(*nvml));
  for (const auto& gpu : sampler.nvml_.gpus())
    if (devices.empty() || std::find(devices.begin(), devices.end(), gpu.index) != devices.end())
      sampler.gpus_.push_back(gpu);
  if (sampler.gpus_.empty())
    return fail("the driver shows no GPU", {}, -1,
                "see what nvidia-smi says, and that the container was given a GPU");
  for (const auto& gpu : sampler.gpus_) {
    if (!gpu.gpm) continue;
    if (gpu.instances.empty()) sampler.gpm_.emplace(gpu.uuid, Gpm(sampler.nvml_, gpu));
    for (const auto& mig : gpu.instances)
      sampler.gpm_.emplace(mig.uuid, Gpm(sampler.nvml_, gpu, mig.gpu_instance));
  }
  return sampler;
}

void LiveSampler::use(LevelSource source, std::string name) {
  source_ = std::move(source);
  source_name_ = std::move(name);
}

void LiveSampler::add_levels(LiveGpu& row,
                             const std::vector<std::pair<std::string, double>>& values, Nanos start,
                             Nanos end, Totals& totals) {
  const double seconds = static_cast<double>(end - start) * 1e-9;
  row.window_ns = end - start;
  for (const auto& [id, value] : values) {
    if (is_ratio(id)) {
      row.values[id] = value;
      totals.sums[id] += value * seconds;  // seconds of full use
    } else {
      totals.sums[id] += value;
      if (seconds > 0) row.values[id] = value / seconds;
    }
  }
}

LiveTable LiveSampler::sample() {
  LiveTable table;
  table.host = host_name();
  table.driver = nvml_.driver_version();
  table.time_ns = host_now();
  for (const auto& gpu : gpus_) {
    LiveGpu row;
    row.index = gpu.index;
    row.name = gpu.name;
    row.uuid = gpu.uuid;
    row.source = "nvml";
    const auto r = nvml_.read(gpu);
    put(row.values, "power.module", r.power_instant_watts);
    put(row.values, "power.average", r.power_average_watts);
    put(row.values, "power.memory", r.power_memory_watts);
    put(row.values, "clock.sm", r.sm_clock_mhz, 1e6);
    put(row.values, "clock.memory", r.memory_clock_mhz, 1e6);
    put(row.values, "temperature.gpu", r.temperature_celsius);
    put(row.values, "monitor.gpu", r.utilization_gpu);
    put(row.values, "monitor.memory", r.utilization_memory);
    if (r.memory_used_bytes) row.values["memory.used"] = static_cast<double>(*r.memory_used_bytes);
    if (r.memory_total_bytes)
      row.values["memory.total"] = static_cast<double>(*r.memory_total_bytes);
    if (gpu.power_limit_watts > 0) row.values["power.limit"] = gpu.power_limit_watts;
    if (r.throttle_reasons) {
      row.values["clock.limits"] = static_cast<double>(*r.throttle_reasons);
      row.throttle = throttle_words(*r.throttle_reasons);
    }
    if (r.processes)
      for (const auto& p : *r.processes) row.processes.push_back({p.pid, p.name, p.memory_bytes});
    auto& totals = totals_[gpu.uuid];
    if (auto gpm = gpm_.find(gpu.uuid); source_) {
      row.source = source_name_;
      if (auto w = source_(gpu))
        add_levels(row, {w->values.begin(), w->values.end()}, w->start_ns, w->end_ns, totals);
      else
        row.missing = "no sample in this interval";
    } else if (gpm != gpm_.end()) {
      row.source = "gpm";
      if (auto w = gpm->second.read())
        add_levels(row, {w->values.begin(), w->values.end()}, w->start_ns, w->end_ns, totals);
      else
        row.missing = r.lost ? "the GPU is lost" : "GPM needs two samples at least 100 ms apart";
    } else {
      row.missing = !gpu.instances.empty() ? "levels are per MIG instance"
                    : gpu.mig              ? "MIG is on and no instance exists"
                                           : "GPM needs Hopper or newer: try --source pm";
    }
    if (r.lost) row.missing = "the GPU is lost";
    row.totals = totals.sums;
    // Counters that the driver keeps itself win over sums of window averages.
    put(row.totals, "energy.module", r.energy_joules);
    if (r.pcie_tx_bytes) row.totals["pcie.tx"] = static_cast<double>(*r.pcie_tx_bytes);
    if (r.pcie_rx_bytes) row.totals["pcie.rx"] = static_cast<double>(*r.pcie_rx_bytes);
    if (r.nvlink_tx_bytes) row.totals["nvlink.tx"] = static_cast<double>(*r.nvlink_tx_bytes);
    if (r.nvlink_rx_bytes) row.totals["nvlink.rx"] = static_cast<double>(*r.nvlink_rx_bytes);
    table.gpus.push_back(std::move(row));
    for (const auto& mig : gpu.instances) {
      LiveGpu part;
      part.index = gpu.index;
      part.name = mig.name;
      part.uuid = mig.uuid;
      part.instance = fmt::format("{}/{}", mig.gpu_instance, mig.compute_instance);
      part.source = "nvml";
      const auto m = nvml_.read(mig);
      if (m.memory_used_bytes)
        part.values["memory.used"] = static_cast<double>(*m.memory_used_bytes);
      if (m.memory_total_bytes)
        part.values["memory.total"] = static_cast<double>(*m.memory_total_bytes);
      if (m.processes)
        for (const auto& p : *m.processes)
          part.processes.push_back({p.pid, p.name, p.memory_bytes});
      auto& sums = totals_[mig.uuid];
      if (auto gpm = gpm_.find(mig.uuid); gpm != gpm_.end()) {
        part.source = "gpm";
        if (auto w = gpm->second.read())
          add_levels(part, {w->values.begin(), w->values.end()}, w->start_ns, w->end_ns, sums);
        else
          part.missing = "GPM needs two samples at least 100 ms apart";
      } else {
        part.missing = "GPM needs Hopper or newer";
      }
      part.totals = sums.sums;
      table.gpus.push_back(std::move(part));
    }
  }
  return table;
}

Result<std::vector<unsigned>> select_devices(const std::string& text,
                                             const std::vector<GpuInfo>& gpus) {
  std::vector<unsigned> out;
  if (text.empty() || text == "all") return out;
  std::size_t at = 0;
  while (at <= text.size()) {
    const auto comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    at = comma + 1;
    bool found = false;
    for (const auto& gpu : gpus)
      if (gpu.uuid == part || gpu.pci_bus == part) {
        out.push_back(gpu.index);
        found = true;
      }
    if (found) continue;
    unsigned first = 0, last = 0;
    int used = 0;
    if (std::sscanf(part.c_str(), "%u-%u%n", &first, &last, &used) != 2 ||
        used != static_cast<int>(part.size())) {
      if (std::sscanf(part.c_str(), "%u%n", &first, &used) != 1 ||
          used != static_cast<int>(part.size()))
        return fail(fmt::format("'{}' names no device", part), {}, -1,
                    "give numbers as nvidia-smi counts, ranges such as 0-3, or UUIDs");
      last = first;
    }
    if (last < first || last >= gpus.size())
      return fail(fmt::format("there is no device {}", part), {}, -1,
                  fmt::format("this machine has devices 0 to {}", gpus.size() - 1));
    for (unsigned i = first; i <= last; ++i) out.push_back(i);
  }
  return out;
}

}  // namespace gf
