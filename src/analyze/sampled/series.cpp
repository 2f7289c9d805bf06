#include "analyze/sampled/series.h"

#include "model/metrics.h"

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
        std::size_t place = devices;
        if (device < devices) place = device;
        if (slot->at[place] == kNoRow) {
          slot->at[place] = static_cast<std::uint32_t>(all[place].size());
          auto& fresh = all[place].emplace_back();
          fresh.metric = metric;
          fresh.sum.assign(buckets, 0);
          fresh.time.assign(buckets, 0);
        }
        auto& series = all[place][slot->at[place]];
        // A count belongs to its span evenly.
        double rate = value;
        if (slot->count) rate = value / static_cast<double>(end - start);
        double shown = value;
        if (slot->count) shown = rate * 1e9;
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

}  // namespace gf
