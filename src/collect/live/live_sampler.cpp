#include "collect/live/live_sampler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "collect/cupti/pm_sampler.h"
#include "collect/nvml/nvml.h"
#include "collect/record/job_identity.h"
#include "core/text.h"
#include "core/time.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr const char* kTooSoon = "GPM needs two samples at least 100 ms apart";

bool is_ratio(std::string_view id) {
  const auto* metric = find_metric(id);
  return metric && metric->unit == "ratio";
}

template <class Values, class Sums>
void add_levels(LiveGpu& row, const Values& values, Nanos start, Nanos end, Sums& sums) {
  const double seconds = static_cast<double>(end - start) * 1e-9;
  row.window_ns = end - start;
  sums.observed_ns += end - start;
  for (const auto& [id, value] : values) {
    if (is_ratio(id)) {
      row.values[id] = value;
      sums.totals[id] += value * seconds;  // seconds of full use
    } else {
      sums.totals[id] += value;
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

/// True if something ran since the reading before; empty: nobody knows.
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
  row.totals = sums.totals;
  row.observed_ns = sums.observed_ns;
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
  row.totals = sums.totals;
  row.observed_ns = sums.observed_ns;
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

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) == 0) return name;
  return "";
}

Result<LiveSampler> LiveSampler::open(const std::string& devices) {
  auto opened = Nvml::open();
  if (!opened) return tl::unexpected(opened.error());
  const auto nvml = std::make_shared<Nvml>(std::move(*opened));
  const auto chosen = select_devices(devices, nvml->gpus());
  if (!chosen) return tl::unexpected(chosen.error());
  LiveSampler sampler;
  sampler.driver_ = nvml->driver_version();
  for (const auto& gpu : nvml->gpus())
    if (std::find(chosen->begin(), chosen->end(), gpu.index) != chosen->end())
      sampler.devices_.push_back({std::make_shared<LiveDevice>(nvml, gpu), {}});
  if (sampler.devices_.empty())
    return fail("the driver reports no GPU", {}, -1,
                "check nvidia-smi, and that the container has access to a GPU");
  return sampler;
}

void LiveSampler::use(const LevelSource& source, const std::string& name) {
  for (auto& watched : devices_) watched.device->use(source, name);
}

std::vector<GpuInfo> LiveSampler::gpus() const {
  std::vector<GpuInfo> out;
  for (const auto& watched : devices_) out.push_back(watched.device->gpu());
  return out;
}

LiveTable LiveSampler::sample(Nanos limit, int wake_fd) {
  LiveTable table;
  table.host = host_name();
  table.driver = driver_;
  table.time_ns = host_now();
  std::vector<WatchedThread*> asked;  // not those that still hang
  for (auto& watched : devices_)
    if (watched.thread.start([device = watched.device] { device->read(); }))
      asked.push_back(&watched.thread);
  const Nanos deadline = host_now() + limit;
  for (auto* thread : asked) thread->wait(std::max<Nanos>(deadline - host_now(), 0), wake_fd);
  for (const auto& watched : devices_)
    for (auto& row : watched.device->newest()) table.gpus.push_back(std::move(row));
  return table;
}

Result<std::vector<unsigned>> select_devices(const std::string& text,
                                             const std::vector<GpuInfo>& gpus) {
  std::vector<unsigned> out;
  if (text.empty() || text == "all") {
    for (const auto& gpu : gpus) out.push_back(gpu.index);
    return out;
  }
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

std::vector<unsigned> visible_devices(const std::string& visible, const std::string& order,
                                      const std::vector<GpuInfo>& gpus) {
  const bool alike =
      std::ranges::all_of(gpus, [&](const GpuInfo& gpu) { return gpu.name == gpus.front().name; });
  std::vector<unsigned> seen;
  for (std::size_t at = 0; at < visible.size();) {
    const auto comma = std::min(visible.find(',', at), visible.size());
    const std::string part(trimmed(std::string_view(visible).substr(at, comma - at)));
    at = comma + 1;
    const auto is_named = [&](const GpuInfo& gpu) {
      return part.starts_with("GPU-") ? gpu.uuid.starts_with(part)
                                      : std::to_string(gpu.index) == part;
    };
    if (std::ranges::count_if(gpus, is_named) != 1) break;
    const auto named = std::ranges::find_if(gpus, is_named);
    if (!part.starts_with("GPU-") && !alike && order != "PCI_BUS_ID") return {};
    seen.push_back(named->index);
  }
  return seen;
}

Result<LevelSource> pm_levels(const std::vector<GpuInfo>& gpus, Nanos reading_every) {
  auto cupti = Cupti::open();
  if (!cupti) return tl::unexpected(cupti.error());
  PmOptions options;
  options.wanted = pm_cache_metrics();  // at 100 samples a second L1's cost nothing
  options.interval_ns =
      std::max(10 * kNsPerMs, reading_every / 100);  // what is not read in time is lost
  options.decode_every_ns = std::max(kNsPerSecond, reading_every);
  struct Sessions {
    std::mutex mutex;  // GPUs are read side by side; CUPTI is asked one call after the other
    std::map<std::string, std::unique_ptr<PmSampler>> samplers;
  };
  const auto sessions = std::make_shared<Sessions>();
  for (const auto& gpu : gpus) {
    PmRefusal why = PmRefusal::none;
    auto sampler = PmSampler::start(*cupti, gpu, options, why);
    if (!sampler) {
      sampler.error().what = fmt::format("GPU {}: {}", gpu.index, sampler.error().what);
      return tl::unexpected(sampler.error());
    }
    sessions->samplers.emplace(gpu.uuid, std::move(*sampler));
  }
  return LevelSource([sessions](const GpuInfo& gpu) -> std::optional<LevelWindow> {
    const std::lock_guard lock(sessions->mutex);
    const auto it = sessions->samplers.find(gpu.uuid);
    if (it == sessions->samplers.end()) return {};
    auto& sampler = *it->second;
    const auto& metrics = sampler.choice().metrics;
    LevelWindow window;
    std::vector<double> sums(metrics.size(), 0);
    const std::int64_t lost = sampler.lost();
    Nanos time = 0;
    const auto drained = sampler.drain([&](const PmSample& sample) {
      if (time == 0) window.start_ns = sample.start_ns;
      window.end_ns = sample.end_ns;
      time += sample.end_ns - sample.start_ns;
      for (std::size_t metric = 0; metric < metrics.size(); ++metric) {
        if (metrics[metric]->is_count) {
          sums[metric] += sample.values[metric];
        } else {
          sums[metric] +=
              sample.values[metric] * static_cast<double>(sample.end_ns - sample.start_ns);
        }
      }
    });
    if (!drained || time == 0) return {};
    window.lost = sampler.lost() - lost;
    for (std::size_t metric = 0; metric < metrics.size(); ++metric) {
      window.values[metrics[metric]->id] =
          metrics[metric]->is_count ? sums[metric] : sums[metric] / static_cast<double>(time);
    }
    return window;
  });
}

}  // namespace gf
