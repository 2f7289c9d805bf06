#include "collect/live/live_sampler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "collect/cupti/pm_sampler.h"
#include "core/time.h"

namespace gf {

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
    if (chosen->empty() || std::find(chosen->begin(), chosen->end(), gpu.index) != chosen->end())
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
