#include "collect/record/counter_thread.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string_view>

#include "model/metric_id.h"

namespace gf {

namespace {
constexpr std::size_t kMostValues =
    16u << 20;  // 64 MB of samples that nobody took: then the newest are dropped and counted
constexpr std::chrono::seconds kLastSamplesPatience{3};  // for the last samples
constexpr std::chrono::milliseconds kWait{200};
}  // namespace

void CounterThread::add(std::unique_ptr<PmSampler> sampler, std::uint32_t device,
                        std::vector<Text> metrics) {
  Source source;
  std::vector<std::string> ids;
  std::vector<bool> counts;
  for (const auto* metric : sampler->choice().metrics) {
    ids.emplace_back(metric->id);
    counts.push_back(metric->is_count);
  }
  const auto column = [&](std::string_view id) {
    return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
  };
  source.busy = column("gpu.busy"_metric);
  source.sm_active = column("sm.active_any"_metric);
  if (source.sm_active == ids.size()) source.sm_active = column("sm.active"_metric);
  source.summary.define(std::move(ids), std::move(counts));
  source.block.device = source.device = device;
  source.block.metrics = std::move(metrics);
  source.sampler = std::move(sampler);
  sources_.push_back(std::move(source));
}

void CounterThread::start() {
  if (!sources_.empty()) thread_ = std::thread([this] { loop(); });
}

void CounterThread::stop() {
  ending_ = true;
  if (!thread_.joinable()) return;
  hangs_ = ended_.get_future().wait_for(kLastSamplesPatience) != std::future_status::ready;
  if (hangs_)
    thread_.detach();
  else
    thread_.join();
}

void CounterThread::loop() {
  timespec next{};
  clock_gettime(CLOCK_MONOTONIC, &next);
  while (!ending_) {
    next.tv_nsec += static_cast<long>(every_ % kNsPerSecond);
    next.tv_sec += every_ / kNsPerSecond + next.tv_nsec / kNsPerSecond;
    next.tv_nsec %= kNsPerSecond;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
    drain();
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > next.tv_sec || (now.tv_sec == next.tv_sec && now.tv_nsec > next.tv_nsec))
      next = now;  // fell behind: do not hurry after
  }
  drain();
  ended_.set_value();
}

void CounterThread::drain() {
  for (auto& source : sources_) {
    if (!source.error.empty()) continue;
    std::lock_guard lock(mutex_);
    const auto ok = source.sampler->drain([&](const PmSample& sample) {
      tell_watch(source, sample);
      source.summary.add(sample.start_ns, sample.end_ns, sample.values);
      if (source.block.values.size() > kMostValues) {
        ++source.dropped;
        return;
      }
      source.block.start_ns.push_back(sample.start_ns);
      source.block.end_ns.push_back(sample.end_ns);
      for (std::size_t metric = 0; metric < source.block.metrics.size(); ++metric)
        source.block.values.push_back(static_cast<float>(sample.values[metric]));
    });
    if (!ok) source.error = ok.error().message();
  }
}

void CounterThread::tell_watch(const Source& source, const PmSample& sample) {
  const std::size_t columns = source.block.metrics.size();
  if (!watch_ || source.busy >= columns) return;
  const double busy = sample.values[source.busy];
  watch_->add(sample.start_ns, sample.end_ns, busy,
              source.sm_active < columns ? sample.values[source.sm_active] : busy);
}

std::vector<SampleBlock> CounterThread::take() {
  std::vector<SampleBlock> out;
  const std::unique_lock lock(mutex_, kWait);
  if (!lock) return out;  // the driver takes its time: what has come is taken next time
  for (auto& source : sources_) {
    if (source.block.empty()) continue;
    out.push_back(source.block);
    source.block.clear();
  }
  return out;
}

}  // namespace gf
