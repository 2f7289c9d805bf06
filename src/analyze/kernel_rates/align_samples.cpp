#include "analyze/kernel_rates/align_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "core/statistics.h"
#include "model/counter_values.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr Nanos kReach = 20 * kNsPerMs, kNear = 400 * kNsPerUs, kFinest = 2 * kNsPerUs,
                kRefine = 150 * kNsPerUs;
constexpr std::size_t kStretch =
    400;  // samples that share one shift: clocks drift apart by less than a sample in it
constexpr std::size_t kMostCoarse = 10'000;  // samples that the first shift is found with
constexpr double kLeastCorrelation = 0.6;

/// The integral of what a set of spans adds up to, each with its own height.
class Signal {
 public:
  void add(Interval span, double height) {
    if (span.end <= span.start || height == 0) return;
    steps_.emplace_back(span.start, height);
    steps_.emplace_back(span.end, -height);
  }
  void close() {
    std::sort(steps_.begin(), steps_.end());
    double height = 0, area = 0;
    for (const auto& [at, change] : steps_) {
      if (!at_.empty()) area += height * static_cast<double>(at - at_.back());
      height += change;
      if (!at_.empty() && at_.back() == at) {
        heights_.back() = height;
        continue;
      }
      at_.push_back(at);
      areas_.push_back(area);
      heights_.push_back(height);
    }
    steps_ = {};
  }
  double mean(Interval span) const {
    return (upto(span.end) - upto(span.start)) / static_cast<double>(span.length());
  }

 private:
  double upto(Nanos t) const {
    const auto it = std::upper_bound(at_.begin(), at_.end(), t);
    if (it == at_.begin()) return 0;
    const auto k = static_cast<std::size_t>(it - at_.begin()) - 1;
    return areas_[k] + heights_[k] * static_cast<double>(t - at_[k]);
  }
  std::vector<std::pair<Nanos, double>> steps_;
  std::vector<Nanos> at_;
  std::vector<double> areas_, heights_;
};

/// The stretches whose every kernel is known: of a recording with windows, each window from its
/// first activity to its last.
Intervals traced_spans(const Capture& c, const Intervals& busy) {
  const auto& w = c.recording_windows;
  if (w.empty()) return {{busy.front().start, busy.back().end}};
  Intervals out;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const auto by_start = [](const Interval& span, Nanos at) { return span.start < at; };
    const auto first = std::lower_bound(busy.begin(), busy.end(), w.start_ns[i], by_start),
               last = std::lower_bound(busy.begin(), busy.end(), w.start_ns[i] + w.duration_ns[i],
                                       by_start);
    if (first != last)
      out.push_back({first->start, std::min((last - 1)->end, w.start_ns[i] + w.duration_ns[i])});
  }
  return normalised(std::move(out));
}

bool known(const Intervals& traced, Interval span) {
  const auto it = std::upper_bound(traced.begin(), traced.end(), span.start,
                                   [](Nanos at, const Interval& i) { return at < i.start; });
  return it != traced.begin() && span.end <= (it - 1)->end;
}

struct Sample {
  Interval span;
  double busy = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values;
};

/// Pearson's r of `n` values and a signal's means over their spans.
template <class Value, class Span>
double correlation(std::size_t n, const Signal& signal, Nanos shift, Value value, Span span) {
  double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Interval s = span(i);
    const double x = value(i), y = signal.mean({s.start + shift, s.end + shift});
    sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
  }
  const auto count = static_cast<double>(n);
  const double vx = sxx - sx * sx / count, vy = syy - sy * sy / count;
  return vx > 1e-9 && vy > 1e-9 ? (sxy - sx * sy / count) / std::sqrt(vx * vy) : 0;
}

double correlation_at(const Signal& busy, const Sample* begin, const Sample* end, Nanos shift) {
  return correlation(
      static_cast<std::size_t>(end - begin), busy, shift,
      [&](std::size_t i) { return begin[i].busy; }, [&](std::size_t i) { return begin[i].span; });
}

/// The shift around `centre` with the best agreement, looked for in ever finer steps.
template <class Agreement>
Nanos best_shift(Agreement&& agreement, Nanos centre, Nanos reach, Nanos step) {
  for (;;) {
    Nanos best = centre;
    double most = -HUGE_VAL;
    for (Nanos shift = centre - reach; shift <= centre + reach; shift += step)
      if (const double r = agreement(shift); r > most) most = r, best = shift;
    if (step <= kFinest) return best;
    centre = best;
    reach = step;
    step = std::max<Nanos>(step / 8, kFinest);
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
  const Intervals traced = traced_spans(c, busy_spans);
  Signal busy;
  for (const auto& span : busy_spans) busy.add(span, 1);
  busy.close();

  // Samples of one span belong together; spans of PM sampling are those that gpu.busy has.
  Intervals around;
  for (const auto& span : traced) around.push_back({span.start - kReach, span.end + kReach});
  around = normalised(std::move(around));
  std::unordered_map<Nanos, std::size_t> by_start;
  std::vector<Sample> all;
  each_counter_value(
      c, around, {device, {busy_id}},
      [&](std::uint32_t, Text, Nanos start, Nanos duration, double value) {
        if (duration <= 0 || !known(traced, {start + kReach, start + duration - kReach})) return;
        by_start[start] = all.size();
        all.push_back({{start, start + duration}, value, {}});
      });
  if (all.size() < kStretch / 4) return out;
  struct Column {
    std::size_t at;
    bool ratio;
  };
  std::map<Text, Column> columns;
  auto sample =
      by_start.end();  // the one that the last value belongs to: its other metrics come next
  each_counter_value(
      c, around, {device, {}},
      [&](std::uint32_t, Text id, Nanos start, Nanos duration, double value) {
        if (id == busy_id || duration <= 0) return;
        if (sample == by_start.end() || sample->first != start) sample = by_start.find(start);
        if (sample == by_start.end() || all[sample->second].span.length() != duration) return;
        const auto [column, added] = columns.try_emplace(id, Column{columns.size(), false});
        if (added) {
          const auto* metric = find_metric(c.text(id));
          column->second.ratio = metric && metric->unit == "ratio";
          out.metrics.push_back(id);
        }
        auto& values = all[sample->second].values;
        if (values.size() <= column->second.at)
          values.resize(column->second.at + 1, std::numeric_limits<double>::quiet_NaN());
        values[column->second.at] =
            column->second.ratio ? value : value / static_cast<double>(duration);
      });
  std::sort(all.begin(), all.end(),
            [](const Sample& x, const Sample& y) { return x.span.start < y.span.start; });

  // One shift for all of them, from some spread over the whole recording; each stretch finds its
  // own around it.
  const std::size_t every = (all.size() + kMostCoarse - 1) / kMostCoarse;
  auto agreement = [&](Nanos shift) {
    return correlation((all.size() + every - 1) / every, busy, shift,
                       [&](std::size_t i) { return all[i * every].busy; },
                       [&](std::size_t i) { return all[i * every].span; });
  };
  const Nanos coarse = best_shift(agreement, 0, kReach, 50 * kNsPerUs);
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
    Nanos shift = best_shift([&](Nanos x) { return correlation_at(busy, begin, end, x); }, coarse,
                             kNear, 50 * kNsPerUs);
    const double r = correlation_at(busy, begin, end, shift);
    if (r < kLeastCorrelation)
      shift = coarse;  // too little happens in this stretch to tell
    else
      shifts.push_back(static_cast<double>(shift)),
          correlation += r * static_cast<double>(to - from),
          weight += static_cast<double>(to - from);
    for (const Sample* s = begin; s != end; ++s) {
      const Interval moved{s->span.start + shift, s->span.end + shift};
      bool whole = s->values.size() == out.metrics.size();
      for (double v : s->values) whole &= std::isfinite(v);
      if (whole && known(traced, moved)) out.rows.push_back({moved, s->values});
    }
  }
  out.shift_ns = shifts.empty() ? coarse : static_cast<Nanos>(median(shifts));
  if (weight > 0) out.correlation = correlation / weight;
  return out;
}

void refine_alignment(const Capture& c, const std::vector<std::uint32_t>& column_of,
                      const std::vector<SolvedMetric>& solved, AlignedSamples& samples) {
  const auto& a = c.activities;
  std::vector<Signal> signals(solved.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    if (column_of[i] != kNoRow)
      for (std::size_t m = 0; m < solved.size(); ++m)
        signals[m].add({a.start_ns[i], a.start_ns[i] + a.duration_ns[i]},
                       solved[m].rates[column_of[i]]);
  for (auto& signal : signals) signal.close();
  std::vector<double> moves;
  double fit = 0;
  for (std::size_t from = 0; from < samples.rows.size(); from += kStretch) {
    const auto n = std::min(kStretch, samples.rows.size() - from);
    auto* rows = samples.rows.data() + from;
    auto agreement = [&](Nanos shift) {
      double sum = 0;
      for (std::size_t m = 0; m < solved.size(); ++m)
        sum += correlation(
            n, signals[m], shift, [&](std::size_t i) { return rows[i].values[solved[m].metric]; },
            [&](std::size_t i) { return rows[i].span; });
      return sum / static_cast<double>(solved.size());
    };
    const Nanos shift = best_shift(agreement, 0, kRefine, 15 * kNsPerUs);
    fit += agreement(shift) * static_cast<double>(n);
    moves.push_back(static_cast<double>(shift));
    for (std::size_t i = 0; i < n; ++i)
      rows[i].span = {rows[i].span.start + shift, rows[i].span.end + shift};
  }
  if (moves.empty()) return;
  samples.shift_ns += static_cast<Nanos>(median(moves));
  samples.correlation = fit / static_cast<double>(samples.rows.size());
}

}  // namespace gf
