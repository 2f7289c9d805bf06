#include "collect/live/live_device.h"

#include <fmt/format.h>

#include "collect/nvml/reading_metrics.h"
#include "collect/record/job_identity.h"
#include "model/metric_id.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr const char* kTooSoon = "GPM needs two samples at least 100 ms apart";

bool is_ratio(std::string_view id) {
  const auto* metric = find_metric(id);
  return metric && metric->unit == "ratio";
}

template <class Values>
void add_levels(LiveGpu& row, const Values& values, Nanos start, Nanos end,
                std::map<std::string, double>& sums) {
  const double seconds = static_cast<double>(end - start) * 1e-9;
  row.window_ns = end - start;
  for (const auto& [id, value] : values) {
    if (is_ratio(id)) {
      row.values[id] = value;
      sums[id] += value * seconds;  // seconds of full use
    } else {
      sums[id] += value;
      if (seconds > 0) row.values[id] = value / seconds;
    }
  }
}

void add_values(LiveGpu& row, const GpuReading& reading, bool counters) {
  for (const auto& metric : reading_metrics()) {
    if (metric.counter != counters) continue;
    if (const auto value = metric.of(reading))
      (counters ? row.totals : row.values)[metric.id] = *value;
  }
}

/// Below this share of time nothing runs: a GPU that is asked about wakes up for moments.
constexpr std::size_t kMostHolders = 4096;  // processes that are remembered
constexpr double kIdle = 0.005;

/// Whether something ran since the reading before; empty: nobody knows.
std::optional<bool> ran(const LiveGpu& row) {
  for (const char* id : {"gpu.busy"_metric, "monitor.gpu"_metric})
    if (const auto found = row.values.find(id); found != row.values.end())
      return found->second > kIdle;
  return {};
}

}  // namespace

LiveDevice::LiveDevice(std::shared_ptr<Nvml> nvml, const GpuInfo& gpu)
    : nvml_(std::move(nvml)), gpu_(gpu) {
  if (gpu.gpm && gpu.instances.empty()) gpm_.emplace(gpu.uuid, Gpm(*nvml_, gpu));
  if (gpu.gpm)
    for (const auto& mig : gpu.instances)
      gpm_.emplace(mig.uuid, Gpm(*nvml_, gpu, mig.gpu_instance));
  LiveGpu unread;
  unread.index = gpu.index;
  unread.name = gpu.name;
  unread.uuid = gpu.uuid;
  unread.source = "nvml";
  rows_.push_back(std::move(unread));
}

void LiveDevice::use(LevelSource source, std::string name) {
  source_ = std::move(source);
  source_name_ = std::move(name);
}

void LiveDevice::read_levels(LiveGpu& row, const GpuReading& reading, Sums& sums) {
  const auto gpm = gpm_.find(gpu_.uuid);
  if (source_) {
    row.source = source_name_;
    if (const auto window = source_(gpu_))
      add_levels(row, window->values, window->start_ns, window->end_ns, sums);
    else
      row.missing = "no sample in this interval";
  } else if (gpm != gpm_.end()) {
    row.source = "gpm";
    if (const auto window = gpm->second.read())
      add_levels(row, window->values, window->start_ns, window->end_ns, sums);
    else
      row.missing = kTooSoon;
  } else if (!gpu_.instances.empty()) {
    row.missing = "levels are per MIG instance";
  } else {
    row.missing = gpu_.mig ? "MIG is on and no instance exists"
                           : "GPM needs Hopper or newer: try --source pm";
  }
  if (reading.lost) row.missing = "the GPU is lost";
}

/// The processes, whose they are, and for how long they have held memory for nothing. What a
/// process is does not change while it has its number and name.
void LiveDevice::add_holders(LiveGpu& row, const GpuReading& reading) {
  if (!reading.processes) return;
  for (const auto& process : *reading.processes) {
    auto& holder = holders_[process.pid];
    if (holder.name != process.name || holder.name.empty()) {
      holder = {process.name, {}};
      for (auto& [key, value] : job_identity_of(static_cast<pid_t>(process.pid)))
        holder.job.emplace(key, value);
    }
    row.processes.push_back({process.pid, process.name, process.memory_bytes, holder.job});
  }
  if (holders_.size() > kMostHolders) holders_.clear();
  auto& since = idle_since_[row.uuid];
  const auto something = ran(row);
  if (row.processes.empty() || !something) {
    since = 0;
    return;
  }
  if (*something) since = 0;
  if (!*something && since == 0) since = row.time_ns;
  row.held_idle_seconds = since == 0 ? 0 : static_cast<double>(row.time_ns - since) * 1e-9;
}

/// Errors come as events, the rest as counters and readings.
void LiveDevice::add_health(LiveGpu& row) {
  const GpuHealth health = read_health(*nvml_, gpu_);
  for (const auto& metric : health_metrics())
    if (const auto value = metric.of(health))
      (metric.counter ? row.totals : row.values)[metric.id] = *value;
  if (!xid_watch_) xid_watch_ = std::make_unique<XidWatch>(nvml_, gpu_);
  if (!xid_watch_->works()) return;
  for (const std::int64_t code : xid_watch_->take()) {
    auto& xid = xids_[code];
    xid.code = code;
    ++xid.count;
    xid.time_ns = row.time_ns;
    last_xid_ = code;
  }
  std::int64_t count = 0;
  for (const auto& [code, xid] : xids_) {
    count += xid.count;
    row.xids.push_back(xid);
  }
  row.values["xid.last"_metric] = static_cast<double>(last_xid_);
  row.totals["xid.errors"_metric] = static_cast<double>(count);
}

LiveGpu LiveDevice::read_gpu() {
  LiveGpu row;
  row.index = gpu_.index;
  row.name = gpu_.name;
  row.uuid = gpu_.uuid;
  row.source = "nvml";
  const auto reading = nvml_->read(gpu_);
  row.time_ns = reading.time_ns;
  add_values(row, reading, false);
  if (gpu_.power_limit_watts > 0) row.values["power.limit"_metric] = gpu_.power_limit_watts;
  if (reading.throttle_reasons) row.throttle = throttle_words(*reading.throttle_reasons);
  auto& sums = sums_[gpu_.uuid];
  read_levels(row, reading, sums);
  add_holders(row, reading);
  row.totals = sums;
  add_values(row, reading, true);  // the driver's own counters win over sums of window averages
  add_health(row);
  return row;
}

LiveGpu LiveDevice::read_instance(const MigInstance& mig) {
  LiveGpu row;
  row.index = gpu_.index;
  row.name = mig.name;
  row.uuid = mig.uuid;
  row.instance = fmt::format("{}/{}", mig.gpu_instance, mig.compute_instance);
  row.source = "nvml";
  const auto reading = nvml_->read(mig);
  row.time_ns = reading.time_ns;
  add_values(row, reading, false);
  auto& sums = sums_[mig.uuid];
  if (const auto gpm = gpm_.find(mig.uuid); gpm != gpm_.end()) {
    row.source = "gpm";
    if (const auto window = gpm->second.read())
      add_levels(row, window->values, window->start_ns, window->end_ns, sums);
    else
      row.missing = kTooSoon;
  } else {
    row.missing = "GPM needs Hopper or newer";
  }
  add_holders(row, reading);
  row.totals = sums;
  return row;
}

void LiveDevice::read() {
  std::vector<LiveGpu> rows;
  rows.push_back(read_gpu());
  for (const auto& mig : gpu_.instances) rows.push_back(read_instance(mig));
  const std::lock_guard lock(mutex_);
  rows_ = std::move(rows);
}

std::vector<LiveGpu> LiveDevice::newest() const {
  const std::lock_guard lock(mutex_);
  return rows_;
}

}  // namespace gf
