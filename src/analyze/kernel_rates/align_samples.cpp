#include "analyze/kernel_rates/align_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/statistics.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr Nanos kReach = 20 * kNsPerMs, kNear = 400 * kNsPerUs;
constexpr std::size_t kStretch = 400;  // samples that share one shift: clocks drift apart by less than a sample in it
constexpr double kLeastCorrelation = 0.6;

/// Busy time before a moment, from the union of device activity.
class BusyTime {
 public:
  explicit BusyTime(const Intervals& busy) : busy_(busy) {
    Nanos sum = 0;
    for (const auto& i : busy_) {
      before_.push_back(sum);
      sum += i.length();
    }
  }
  double share(Interval span) const { return static_cast<double>(upto(span.end) - upto(span.start)) / static_cast<double>(span.length()); }

 private:
  Nanos upto(Nanos t) const {
    const auto it = std::upper_bound(busy_.begin(), busy_.end(), t, [](Nanos x, const Interval& i) { return x < i.start; });
    if (it == busy_.begin()) return 0;
    const auto k = static_cast<std::size_t>(it - busy_.begin()) - 1;
    return before_[k] + std::min(t, busy_[k].end) - busy_[k].start;
  }
  const Intervals& busy_;
  std::vector<Nanos> before_;
};

struct Sample {
  Interval span;
  double busy = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values;
};

double correlation_at(const BusyTime& busy, const Sample* begin, const Sample* end, Nanos shift) {
  double n = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
  for (const Sample* s = begin; s != end; ++s) {
    const double x = s->busy, y = busy.share({s->span.start + shift, s->span.end + shift});
    ++n, sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
  }
  const double vx = sxx - sx * sx / n, vy = syy - sy * sy / n;
  return vx > 1e-9 && vy > 1e-9 ? (sxy - sx * sy / n) / std::sqrt(vx * vy) : 0;
}

/// The shift around `centre` with the best correlation, looked for in ever finer steps.
Nanos best_shift(const BusyTime& busy, const Sample* begin, const Sample* end, Nanos centre, Nanos reach, Nanos step) {
  for (;;) {
    Nanos best = centre;
    double most = -2;
    for (Nanos shift = centre - reach; shift <= centre + reach; shift += step)
      if (const double r = correlation_at(busy, begin, end, shift); r > most) most = r, best = shift;
    if (step <= 2 * kNsPerUs) return best;
    centre = best;
    reach = step;
    step = std::max<Nanos>(step / 8, 2 * kNsPerUs);
  }
}

}  // namespace

AlignedSamples align_samples(const Capture& c, std::uint32_t device) {
  AlignedSamples out;
  Intervals spans;
  const auto& a = c.activities;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a.device[i] == device) spans.push_back({a.start_ns[i], a.start_ns[i] + a.duration_ns[i]});
  const Intervals busy_spans = normalised(std::move(spans));
  const Text busy_id = c.strings.find("gpu.busy");
  if (busy_spans.empty() || busy_id == Text::none) return out;
  const Interval traced{busy_spans.front().start, busy_spans.back().end};
  const BusyTime busy(busy_spans);

  // Samples of one span belong together; spans of PM sampling are those that gpu.busy has.
  const auto& t = c.counter_samples;
  std::map<Nanos, std::size_t> by_start;
  std::vector<Sample> all;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (t.device[i] == device && t.metric[i] == busy_id && t.duration_ns[i] > 0 && t.start_ns[i] >= traced.start - kReach && t.start_ns[i] <= traced.end + kReach) {
      by_start[t.start_ns[i]] = all.size();
      all.push_back({{t.start_ns[i], t.start_ns[i] + t.duration_ns[i]}, t.value[i], {}});
    }
  if (all.size() < kStretch / 4) return out;
  std::map<Text, std::size_t> column;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t.device[i] != device || t.metric[i] == busy_id || t.duration_ns[i] <= 0) continue;
    const auto it = by_start.find(t.start_ns[i]);
    if (it == by_start.end() || all[it->second].span.length() != t.duration_ns[i]) continue;
    const auto [found, added] = column.try_emplace(t.metric[i], column.size());
    auto& values = all[it->second].values;
    if (values.size() <= found->second) values.resize(found->second + 1, std::numeric_limits<double>::quiet_NaN());
    const auto* metric = find_metric(c.text(t.metric[i]));
    values[found->second] = metric && metric->unit == "ratio" ? t.value[i] : t.value[i] / static_cast<double>(t.duration_ns[i]);
  }
  out.metrics.resize(column.size());
  for (const auto& [id, k] : column) out.metrics[k] = id;
  std::sort(all.begin(), all.end(), [](const Sample& x, const Sample& y) { return x.span.start < y.span.start; });

  const Nanos coarse = best_shift(busy, all.data(), all.data() + all.size(), 0, kReach, 50 * kNsPerUs);
  out.correlation = correlation_at(busy, all.data(), all.data() + all.size(), coarse);
  if (out.correlation < kLeastCorrelation) {
    out.metrics.clear();
    return out;
  }
  std::vector<double> shifts;
  double correlation = 0, weight = 0;
  for (std::size_t from = 0; from < all.size(); from += kStretch) {
    const auto to = std::min(from + kStretch, all.size());
    const Sample *begin = all.data() + from, *end = all.data() + to;
    Nanos shift = best_shift(busy, begin, end, coarse, kNear, 50 * kNsPerUs);
    const double r = correlation_at(busy, begin, end, shift);
    if (r < kLeastCorrelation) shift = coarse;  // too little happens in this stretch to tell
    else shifts.push_back(static_cast<double>(shift)), correlation += r * static_cast<double>(to - from), weight += static_cast<double>(to - from);
    for (const Sample* s = begin; s != end; ++s) {
      const Interval moved{s->span.start + shift, s->span.end + shift};
      bool whole = s->values.size() == out.metrics.size();
      for (double v : s->values) whole &= std::isfinite(v);
      if (whole && moved.start >= traced.start && moved.end <= traced.end) out.rows.push_back({moved, s->values});
    }
  }
  out.shift_ns = shifts.empty() ? coarse : static_cast<Nanos>(median(shifts));
  if (weight > 0) out.correlation = correlation / weight;
  return out;
}

}  // namespace gf
