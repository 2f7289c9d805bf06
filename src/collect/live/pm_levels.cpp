#include "collect/live/pm_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "collect/cupti/pm_sampler.h"

namespace gf {

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
      if (metrics[metric]->is_count) {
        window.values[metrics[metric]->id] = sums[metric];
      } else {
        window.values[metrics[metric]->id] = sums[metric] / static_cast<double>(time);
      }
    }
    return window;
  });
}

}  // namespace gf
