#include "analyze/kernel_rates/align_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "core/statistics.h"
#include "model/counter_values.h"
#include "model/metric_id.h"
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
  double upto(Nanos time) const {
    const auto it = std::upper_bound(at_.begin(), at_.end(), time);
    if (it == at_.begin()) return 0;
    const auto at = static_cast<std::size_t>(it - at_.begin()) - 1;
    return areas_[at] + heights_[at] * static_cast<double>(time - at_[at]);
  }
  std::vector<std::pair<Nanos, double>> steps_;
  std::vector<Nanos> at_;
  std::vector<double> areas_, heights_;
};

/// The stretches whose every kernel is known: of a recording with windows, each window from its
/// first activity to its last.
Intervals traced_spans(const Capture& capture, const Intervals& busy) {
  const auto& windows = capture.recording_windows;
  if (windows.empty()) return {{busy.front().start, busy.back().end}};
  Intervals out;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto by_start = [](const Interval& span, Nanos at) { return span.start < at; };
    const auto first = std::lower_bound(busy.begin(), busy.end(), windows.start_ns[i], by_start),
               last = std::lower_bound(busy.begin(), busy.end(),
                                       windows.start_ns[i] + windows.duration_ns[i], by_start);
    if (first != last)
      out.push_back(
          {first->start, std::min((last - 1)->end, windows.start_ns[i] + windows.duration_ns[i])});
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
double correlation(std::size_t points, const Signal& signal, Nanos shift, Value value, Span span) {
  double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
  for (std::size_t i = 0; i < points; ++i) {
    const Interval interval = span(i);
    const double mine = value(i),
                 theirs = signal.mean({interval.start + shift, interval.end + shift});
    sx += mine;
    sy += theirs;
    sxx += mine * mine;
    syy += theirs * theirs;
    sxy += mine * theirs;
  }
  const auto count = static_cast<double>(points);
  const double vx = sxx - sx * sx / count, vy = syy - sy * sy / count;
  if (vx > 1e-9 && vy > 1e-9) return (sxy - sx * sy / count) / std::sqrt(vx * vy);
  return 0;
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
      if (const double ratio = agreement(shift); ratio > most) {
        most = ratio;
        best = shift;
      }
    if (step <= kFinest) return best;
    centre = best;
    reach = step;
    step = std::max<Nanos>(step / 8, kFinest);
  }
}

/// One shift for all samples, from some spread over the whole recording.
Nanos coarse_shift(const Signal& busy, const std::vector<Sample>& all) {
  const std::size_t every = (all.size() + kMostCoarse - 1) / kMostCoarse;
  auto agreement = [&](Nanos shift) {
    return correlation((all.size() + every - 1) / every, busy, shift,
                       [&](std::size_t i) { return all[i * every].busy; },
                       [&](std::size_t i) { return all[i * every].span; });
  };
  return best_shift(agreement, 0, kReach, 50 * kNsPerUs);
}

Signal busy_signal(const Intervals& busy_spans) {
  Signal busy;
  for (const auto& span : busy_spans) busy.add(span, 1);
  busy.close();
  return busy;
}

/// Samples of PM sampling in and around the traced spans, in order of time.
class SampleReader {
 public:
  SampleReader(const Capture& capture, std::uint32_t device, const Intervals& traced)
      : capture_(capture), device_(device), traced_(traced) {
    for (const auto& span : traced) around_.push_back({span.start - kReach, span.end + kReach});
    around_ = normalised(std::move(around_));
  }

  /// Samples of one span belong together; spans of PM sampling are those that gpu.busy has.
  bool read_spans(Text busy_id) {
    each_counter_value(
        capture_, around_, {device_, {busy_id}},
        [&](std::uint32_t, Text, Nanos start, Nanos duration, double value) {
          if (duration <= 0 || !known(traced_, {start + kReach, start + duration - kReach})) return;
          by_start_[start] = samples_.size();
          samples_.push_back({{start, start + duration}, value, {}});
        });
    return samples_.size() >= kStretch / 4;
  }

  /// Adds every other metric to the samples of its span; `metrics` gets the columns' names.
  std::vector<Sample> read_values(Text busy_id, std::vector<Text>& metrics) {
    // The sample that the last value belongs to: its other metrics come next.
    auto sample = by_start_.end();
    each_counter_value(
        capture_, around_, {device_, {}},
        [&](std::uint32_t, Text id, Nanos start, Nanos duration, double value) {
          if (id == busy_id || duration <= 0) return;
          if (sample == by_start_.end() || sample->first != start) sample = by_start_.find(start);
          if (sample == by_start_.end() || samples_[sample->second].span.length() != duration)
            return;
          const Column column = column_of(id, metrics);
          auto& values = samples_[sample->second].values;
          if (values.size() <= column.at)
            values.resize(column.at + 1, std::numeric_limits<double>::quiet_NaN());
          values[column.at] = value;
          if (!column.ratio) values[column.at] /= static_cast<double>(duration);
        });
    std::sort(samples_.begin(), samples_.end(), [](const Sample& left, const Sample& right) {
      return left.span.start < right.span.start;
    });
    return std::move(samples_);
  }

 private:
  struct Column {
    std::size_t at;
    bool ratio;
  };
  Column column_of(Text id, std::vector<Text>& metrics) {
    const auto [column, added] = columns_.try_emplace(id, Column{columns_.size(), false});
    if (added) {
      const auto* metric = find_metric(capture_.text(id));
      column->second.ratio = metric && metric->unit == "ratio";
      metrics.push_back(id);
    }
    return column->second;
  }

  const Capture& capture_;
  std::uint32_t device_;
  const Intervals& traced_;
  Intervals around_;
  std::unordered_map<Nanos, std::size_t> by_start_;
  std::vector<Sample> samples_;
  std::map<Text, Column> columns_;
};

/// Moves each stretch of samples by the shift that fits it best, near the coarse one.
void align_stretches(const Signal& busy, const std::vector<Sample>& all, const Intervals& traced,
                     Nanos coarse, AlignedSamples& out) {
  std::vector<double> shifts;
  double correlation = 0, weight = 0;
  for (std::size_t from = 0; from < all.size(); from += kStretch) {
    const auto to = std::min(from + kStretch, all.size());
    const Sample *begin = all.data() + from, *end = all.data() + to;
    Nanos shift = best_shift([&](Nanos tried) { return correlation_at(busy, begin, end, tried); },
                             coarse, kNear, 50 * kNsPerUs);
    const double ratio = correlation_at(busy, begin, end, shift);
    if (ratio < kLeastCorrelation)
      shift = coarse;  // too little happens in this stretch to tell
    else {
      shifts.push_back(static_cast<double>(shift));
      correlation += ratio * static_cast<double>(to - from);
      weight += static_cast<double>(to - from);
    }
    for (const Sample* it = begin; it != end; ++it) {
      const Interval moved{it->span.start + shift, it->span.end + shift};
      bool whole = it->values.size() == out.metrics.size();
      for (double value : it->values) whole &= std::isfinite(value);
      if (whole && known(traced, moved)) out.rows.push_back({moved, it->values});
    }
  }
  out.shift_ns = coarse;
  if (!shifts.empty()) out.shift_ns = static_cast<Nanos>(median(shifts));
  if (weight > 0) out.correlation = correlation / weight;
}

}  // namespace

AlignedSamples align_samples(const Capture& capture, std::uint32_t device) {
  AlignedSamples out;
  Intervals spans;
  const auto& activities = capture.activities;
  for (std::size_t i = 0; i < activities.size(); ++i)
    if (activities.device[i] == device)
      spans.push_back({activities.start_ns[i], activities.start_ns[i] + activities.duration_ns[i]});
  const Intervals busy_spans = normalised(std::move(spans));
  const Text busy_id = capture.strings.find("gpu.busy"_metric);
  if (busy_spans.empty() || busy_id == Text::none) return out;
  const Intervals traced = traced_spans(capture, busy_spans);

  SampleReader reader(capture, device, traced);
  if (!reader.read_spans(busy_id)) return out;
  const auto all = reader.read_values(busy_id, out.metrics);
  const Signal busy = busy_signal(busy_spans);
  const Nanos coarse = coarse_shift(busy, all);
  out.correlation = correlation_at(busy, all.data(), all.data() + all.size(), coarse);
  if (out.correlation < kLeastCorrelation) {
    out.metrics.clear();
    return out;
  }
  align_stretches(busy, all, traced, coarse, out);
  return out;
}

void refine_alignment(const Capture& capture, const std::vector<std::uint32_t>& column_of,
                      const std::vector<SolvedMetric>& solved, AlignedSamples& samples) {
  const auto& activities = capture.activities;
  std::vector<Signal> signals(solved.size());
  for (std::size_t i = 0; i < activities.size(); ++i)
    if (column_of[i] != kNoRow)
      for (std::size_t metric = 0; metric < solved.size(); ++metric)
        signals[metric].add(
            {activities.start_ns[i], activities.start_ns[i] + activities.duration_ns[i]},
            solved[metric].rates[column_of[i]]);
  for (auto& signal : signals) signal.close();
  std::vector<double> moves;
  double fit = 0;
  for (std::size_t from = 0; from < samples.rows.size(); from += kStretch) {
    const auto size = std::min(kStretch, samples.rows.size() - from);
    auto* rows = samples.rows.data() + from;
    auto agreement = [&](Nanos shift) {
      double sum = 0;
      for (std::size_t metric = 0; metric < solved.size(); ++metric)
        sum += correlation(
            size, signals[metric], shift,
            [&](std::size_t i) { return rows[i].values[solved[metric].metric]; },
            [&](std::size_t i) { return rows[i].span; });
      return sum / static_cast<double>(solved.size());
    };
    const Nanos shift = best_shift(agreement, 0, kRefine, 15 * kNsPerUs);
    fit += agreement(shift) * static_cast<double>(size);
    moves.push_back(static_cast<double>(shift));
    for (std::size_t i = 0; i < size; ++i)
      rows[i].span = {rows[i].span.start + shift, rows[i].span.end + shift};
  }
  if (moves.empty()) return;
  samples.shift_ns += static_cast<Nanos>(median(moves));
  samples.correlation = fit / static_cast<double>(samples.rows.size());
}

}  // namespace gf
