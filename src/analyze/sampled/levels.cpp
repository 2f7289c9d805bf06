#include "analyze/sampled/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "analyze/utilization/waterfall.h"
#include "core/apportion.h"
#include "model/formats.h"
#include "model/levels.h"
#include "model/metrics.h"
#include "model/vendor.h"

namespace gf {

bool is_count(std::string_view metric) {
  if (metric.starts_with("memory.") || metric.starts_with("host.")) return false;
  const Metric* known = find_metric(metric);
  if (!known) return false;
  constexpr std::string_view kAmounts[] = {"bytes",      "sectors",    "requests", "instructions",
                                           "wavefronts", "operations", "cycles"};
  return std::find(std::begin(kAmounts), std::end(kAmounts), known->unit) != std::end(kAmounts);
}

bool looks_back(std::string_view metric) { return metric.starts_with("monitor."); }

std::optional<ReadingSpans::Span> ReadingSpans::add(std::uint32_t device, Text metric, Nanos start,
                                                    Nanos duration, double value) {
  if (!std::isfinite(value)) return {};
  if (duration > 0) return Span{start, end_of(start, duration), value};
  const std::size_t host = capture_.devices.size();
  auto& kind = kinds_[static_cast<std::size_t>(metric)];
  if (!kind.known) kind = {true, looks_back(capture_.text(metric)), std::vector<Chain>(host + 1)};
  auto& chain = kind.chains[std::min<std::size_t>(device, host)];
  const Chain before = chain;
  chain.at = start;
  chain.value = value;
  if (before.at == INT64_MIN || start <= before.at) return {};
  const Nanos passed = length_of(before.at, start);
  if (before.first) {
    chain.limit = std::max(kHold, 10 * std::min(passed, kLongestInterval));
    chain.first = false;
  }
  if (passed < 0 || passed > chain.limit) return {};
  return Span{before.at, start, kind.back ? value : before.value};
}

std::optional<double> SampledSeries::mean(bool count) const {
  if (covered <= 0) return {};
  return integral / (static_cast<double>(covered) * (count ? 1e-9 : 1));
}

std::vector<std::vector<SampledSeries>> collect_series(const Capture& capture, Interval window,
                                                       Nanos bucket_ns,
                                                       const CounterFilter& filter) {
  const std::size_t devices = capture.devices.size();
  const auto buckets = static_cast<std::size_t>((window.length() + bucket_ns - 1) / bucket_ns);
  struct Slot {
    bool count = false;
    std::vector<std::uint32_t> at;  // by device: position in its series
  };
  std::vector<std::optional<Slot>> slots(capture.strings.size());
  std::vector<std::vector<SampledSeries>> all(devices + 1);
  each_sample_span(
      capture, window, filter,
      [&](std::uint32_t device, Text metric, Nanos start, Nanos end, double value) {
        auto& slot = slots[static_cast<std::size_t>(metric)];
        if (!slot)
          slot =
              Slot{is_count(capture.text(metric)), std::vector<std::uint32_t>(devices + 1, kNoRow)};
        std::size_t place = device < devices ? device : devices;
        if (slot->at[place] == kNoRow) {
          slot->at[place] = static_cast<std::uint32_t>(all[place].size());
          auto& fresh = all[place].emplace_back();
          fresh.metric = metric;
          fresh.sum.assign(buckets, 0);
          fresh.time.assign(buckets, 0);
        }
        auto& series = all[place][slot->at[place]];
        // A count belongs to its span evenly.
        double rate = slot->count ? value / static_cast<double>(end - start) : value;
        double shown = slot->count ? rate * 1e9 : value;
        if (series.samples++ == 0)
          series.low = series.high = shown;
        else {
          series.low = std::min(series.low, shown);
          series.high = std::max(series.high, shown);
        }
        const Nanos from = std::max(start, window.start), to = std::min(end, window.end);
        series.covered += to - from;
        series.integral += rate * static_cast<double>(to - from);
        for (Nanos at = from; at < to;) {
          const auto bucket = static_cast<std::size_t>((at - window.start) / bucket_ns);
          const Nanos until =
              std::min(to, window.start + static_cast<Nanos>(bucket + 1) * bucket_ns);
          series.sum[bucket] += rate * static_cast<double>(until - at);
          series.time[bucket] += static_cast<double>(until - at);
          at = until;
        }
      });
  return all;
}

namespace {

/// Samples can tell it, or what stands in for it, so that its absence wants a word.
bool is_expected(const LevelRow& row) {
  return row.place <= LevelPlace::rung &&
         (find_input(row.id, MetricSource::pm) || find_input(row.stand_in, MetricSource::pm));
}

const SampledSeries* find_series(const Capture& capture, const std::vector<SampledSeries>& series,
                                 std::string_view metric) {
  Text id = metric.empty() ? Text::none : capture.strings.find(metric);
  for (const auto& one : series)
    if (id != Text::none && one.metric == id && one.covered > 0) return &one;
  return nullptr;
}

std::string why_missing(std::string_view rung, SampleSource source, const Capture& capture) {
  if (source == SampleSource::pm_sampling)
    return fmt::format("{} did not fit into the sampled pass", rung);
  if (vendor_of(capture) == Vendor::amd)
    return "the driver's utilization says that a kernel ran, not how much of the GPU it used; "
           "rocprof-compute measures inside kernels";
  const bool recorded = says(capture.format, kOurRecorder);
  std::string_view lacks =
      "NVML utilization says that a kernel ran, not how much of the GPU it used";
  if (source == SampleSource::gpm) lacks = "NVML GPM has no counter for it";
  if (source == SampleSource::dcgm) lacks = "DCGM does not export it, or its field was not logged";
  const char* advice = recorded ? "gpufathom doctor shows why the recorder had no hardware counters"
                                : "gpufathom record samples it from hardware counters";
  return fmt::format("{}; {}", lacks, advice);
}

/// The series that stands for a rung, and what it is called; null when nothing was sampled of it.
struct StandIn {
  const SampledSeries* series = nullptr;
  std::string_view metric;
};
StandIn stand_in(const Capture& capture, const std::vector<SampledSeries>& series,
                 const LevelRow& row) {
  for (const auto name : {row.id, row.stand_in})
    if (const auto* found = find_series(capture, series, name)) return {found, name};
  return {};
}

Level missing_level(std::string_view rung, SampleSource source, const Capture& capture) {
  Level level;
  level.id = rung;
  level.why_missing = why_missing(rung, source, capture);
  return level;
}

void keep_mean(std::string_view rung, double mean, double share, SampledMeans& means) {
  if (rung == "gpu.busy"_metric) {
    means.busy = mean;
    means.covered = share;
  }
  if (rung == "sm.active"_metric) means.active = mean;
  if (rung == "issue.active"_metric) means.issue = mean;
  if (rung == "tensor.active"_metric) means.tensor = mean;
  if (rung == "tensor.issue"_metric) means.tensor_issue = mean;
}

/// Adds the levels that are shown although nothing was sampled of them, in their places.
void add_missing_levels(SampleSource source, const Capture& capture, std::vector<Level>& levels) {
  std::vector<Level> all;
  for (const LevelRow& row : kLevelRows) {
    const auto known = std::ranges::find(levels, row.id, &Level::id);
    if (known != levels.end())
      all.push_back(std::move(*known));
    else if (is_expected(row))
      all.push_back(missing_level(row.id, source, capture));
  }
  levels = std::move(all);
}

}  // namespace

std::vector<std::string_view> sampled_rung_metrics() {
  std::vector<std::string_view> all;
  for (const LevelRow& row : kLevelRows)
    std::ranges::copy_if(std::array{row.id, row.stand_in}, std::back_inserter(all),
                         [](std::string_view metric) { return !metric.empty(); });
  return all;
}

SampledLadder sampled_ladder(const Capture& capture, const std::vector<SampledSeries>& series,
                             Nanos span, double most) {
  SampledLadder ladder;
  std::map<std::string_view, double> bounds;  // by level, what those below it cannot be above
  for (const LevelRow& row : kLevelRows) {
    const auto bound = bounds.find(row.bound);
    const bool is_part = row.place <= LevelPlace::rung;
    const double highest = !is_part ? 1 : bound != bounds.end() ? bound->second : most;
    bounds[row.id] = highest;
    const auto [found, metric] = stand_in(capture, series, row);
    if (!found) continue;
    const double share =
        std::min(static_cast<double>(found->covered) / static_cast<double>(span), 1.0);
    // Counters of one sample can disagree by a hair: no rung is above the one that holds it.
    const double mean = std::clamp(*found->mean(false), 0.0, highest);
    Level level;
    level.id = row.id;
    level.value = level.low = mean * share;
    level.high = std::min(mean * share + (1 - share) * highest, 1.0);
    level.coverage = share;
    level.formula = fmt::format("mean over samples of {}", metric);
    ladder.levels.push_back(std::move(level));
    keep_mean(row.id, mean, share, ladder.means);
    bounds[row.id] = mean;
  }
  return ladder;
}

std::vector<double> sampled_split(const SampledMeans& means, double busy) {
  auto of_busy = [&](double level) {
    if (busy > 0) return std::min(level / busy, 1.0);
    return std::isnan(level) ? level : 0.0;
  };
  const KernelSplit split = split_busy(of_busy(means.active), of_busy(means.issue),
                                       of_busy(means.tensor), of_busy(means.tensor_issue));
  return {split.sm_inactive, split.stalled, split.other_instructions, split.tensor, split.unknown};
}

void measure_sampled_levels(const Capture& capture, const std::vector<SampledSeries>& series,
                            SampleSource source, DeviceUse& use) {
  auto [levels, means] = sampled_ladder(capture, series, use.span_ns);
  add_missing_levels(source, capture, levels);
  use.levels = std::move(levels);
  const Nanos known = std::llround(static_cast<double>(use.span_ns) * means.covered);
  Nanos kernels = 0, idle = 0;
  if (!std::isnan(means.busy)) {
    kernels = std::llround(means.busy * static_cast<double>(known));
    idle = known - kernels;
  }
  use.busy_ns = use.kernel_busy_ns = use.kernel_time_sum_ns = kernels;
  use.idle_ns = use.span_ns - kernels;
  if (idle > 0) use.idle.push_back({IdleReason::not_recorded, idle, 0, {}, {}});
  if (use.idle_ns > idle)
    use.idle.push_back({IdleReason::no_samples, use.idle_ns - idle, 0, {}, {}});
  const auto parts = sampled_split(means, means.busy);
  const auto ns = apportion(kernels, parts);
  use.waterfall = {waterfall_bar(Bar::idle, idle)};  // copies cannot be told from it
  for (std::size_t part = 0; part < parts.size(); ++part)
    use.waterfall.push_back(waterfall_bar(kKernelBars[part], ns[part]));
  use.waterfall.back().ns += use.idle_ns - idle;  // time without samples
}

std::vector<Level> join_ladders(std::span<const DeviceUse> devices) {
  if (devices.size() == 1) return devices.front().levels;
  std::vector<Level> all;
  double whole = 0;
  for (const auto& device : devices) whole += static_cast<double>(device.span_ns);
  for (const auto& device : devices)
    for (const auto& level : device.levels) {
      auto same = std::find_if(all.begin(), all.end(),
                               [&](const Level& rung) { return rung.id == level.id; });
      if (same == all.end()) {
        Level fresh = level;
        fresh.value = fresh.low = fresh.high = fresh.coverage = {};
        all.push_back(fresh);
        same = all.end() - 1;
      }
      if (!level.value) continue;
      const double share = static_cast<double>(device.span_ns) / whole;
      same->why_missing.clear();
      same->formula = level.formula;
      same->value = same->value.value_or(0) + share * *level.value;
      same->low = same->low.value_or(0) + share * *level.low;
      same->high = same->high.value_or(0) + share * *level.high;
      same->coverage = same->coverage.value_or(0) + share * *level.coverage;
    }
  // A device without the level could have any: the share of the others bounds it.
  for (auto& rung : all) {
    double with = 0;
    for (const auto& device : devices)
      for (const auto& level : device.levels)
        if (level.id == rung.id && level.value) with += static_cast<double>(device.span_ns) / whole;
    // Kernel time, summed, can be above 1.
    if (rung.high) rung.high = std::max(*rung.value, std::min(1.0, *rung.high + 1 - with));
  }
  return all;
}

}  // namespace gf
