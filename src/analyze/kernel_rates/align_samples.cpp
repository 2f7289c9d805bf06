#include "analyze/kernel_rates/align_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "analyze/kernel_rates/sample_reader.h"
#include "analyze/timeline.h"
#include "core/statistics.h"
#include "core/time.h"
#include "model/levels.h"
#include "model/metrics.h"

namespace gf {

namespace {

class Signal {
 public:
  void add(Interval span, double height);
  /// After the last span.
  void close();
  double mean(Interval span) const {
    return (upto(span.end) - upto(span.start)) / static_cast<double>(span.length());
  }

 private:
  double upto(Nanos time) const;
  std::vector<std::pair<Nanos, double>> steps_;
  std::vector<Nanos> at_;
  std::vector<double> areas_, heights_;
};

void Signal::add(Interval span, double height) {
  if (span.end <= span.start || height == 0) return;
  steps_.emplace_back(span.start, height);
  steps_.emplace_back(span.end, -height);
}

void Signal::close() {
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

double Signal::upto(Nanos time) const {
  const auto it = std::upper_bound(at_.begin(), at_.end(), time);
  if (it == at_.begin()) return 0;
  const auto at = static_cast<std::size_t>(it - at_.begin()) - 1;
  return areas_[at] + heights_[at] * static_cast<double>(time - at_[at]);
}

constexpr Nanos kNear = 400 * kNsPerUs, kRefine = 150 * kNsPerUs;
constexpr std::size_t kStretch =
    400;  // samples that share one shift: clocks drift apart by less than a sample in it
constexpr std::size_t kLeastStretch = 50;   // fewer go where their neighbors go
constexpr std::size_t kMostCoarse = 3'000;  // samples that the first shift is found with
constexpr int kMostTries = 3;               // places of the recording where it is looked for
constexpr std::size_t kMostClasses = 40, kSamplesPerClass = 10;
constexpr std::size_t kMostFollowed = 2;  // metrics that stretches are moved by
constexpr double kLeastCorrelation = 0.6;
constexpr Nanos kLongPause = 100 * kNsPerMs;  // without samples: clocks may have gone apart
constexpr int kMostWide = 16;                 // searches after such pauses

constexpr std::size_t kFallbackGuides = 3;  // of a capture that has none of them
constexpr std::size_t kBusy = SIZE_MAX;     // gpu.busy, which is no metric of the rows

std::vector<std::size_t> guides_of(const Capture& capture, const std::vector<Text>& metrics) {
  // Levels of the whole GPU that change from kernel to kernel, so that they tell where samples lie.
  std::vector<std::size_t> guides;
  each_sampled(kLive, [&](std::string_view id) {
    if (const auto it = std::find(metrics.begin(), metrics.end(), capture.strings.find(id));
        it != metrics.end() && find_input(id, MetricSource::solved))
      guides.push_back(static_cast<std::size_t>(it - metrics.begin()));
  });
  for (std::size_t i = 0; guides.empty() && i < std::min(metrics.size(), kFallbackGuides); ++i)
    guides.push_back(i);
  guides.push_back(kBusy);
  return guides;
}

double guide_value(const CounterSample& sample, std::size_t guide) {
  return guide == kBusy ? sample.busy : sample.values[guide];
}

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
  return vx > 1e-9 && vy > 1e-9 ? (sxy - sx * sy / count) / std::sqrt(vx * vy) : 0;
}

std::vector<Signal> rate_signals(const Capture& capture,
                                 const std::vector<std::uint32_t>& column_of,
                                 const std::vector<std::vector<double>>& rates) {
  const auto& activities = capture.activities;
  std::vector<Signal> signals(rates.size());
  for (std::size_t i = 0; i < activities.size(); ++i)
    if (column_of[i] != kNoRow)
      for (std::size_t metric = 0; metric < rates.size(); ++metric)
        signals[metric].add(span_of(activities, i), rates[metric][column_of[i]]);
  for (auto& signal : signals) signal.close();
  return signals;
}

/// Samples [begin, end) that follow each other.
struct Stretch {
  std::size_t begin, end;
};

std::vector<Stretch> stretches_of(const std::vector<CounterSample>& samples) {
  std::vector<Stretch> out;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const bool follows = i > 0 && std::abs(samples[i].span.start - samples[i - 1].span.end) <
                                      samples[i].span.length() / 2;
    if (out.empty() || !follows || i - out.back().begin >= kStretch) out.push_back({i, i});
    out.back().end = i + 1;
  }
  return out;
}

/// The windows in which samples change most: of at most kMostCoarse samples, the best first.
std::vector<Stretch> busiest_windows(const std::vector<CounterSample>& samples,
                                     const std::vector<std::size_t>& guides) {
  const std::size_t size = std::min(samples.size(), kMostCoarse);
  struct Rated {
    double variance;
    Stretch window;
  };
  std::vector<Rated> rated;
  for (std::size_t begin = 0; begin + size <= samples.size();
       begin += std::max<std::size_t>(size / 2, 1)) {
    double variance = 0;
    for (const auto guide : guides) {
      double sum = 0, squares = 0;
      for (std::size_t i = begin; i < begin + size; ++i) {
        const double value = guide_value(samples[i], guide);
        sum += value;
        squares += value * value;
      }
      const auto count = static_cast<double>(size);
      if (sum > 0) variance += squares / count / (sum * sum / count / count) - 1;
    }
    rated.push_back({variance, {begin, begin + size}});
  }
  std::stable_sort(rated.begin(), rated.end(), [](const Rated& left, const Rated& right) {
    return left.variance > right.variance;
  });
  std::vector<Stretch> out;
  for (const auto& one : rated) out.push_back(one.window);
  return out;
}

/// Moves stretches of samples after the shift found in one place of the recording: clocks drift, so
/// each stretch is looked for near its neighbor's place, and after a long pause everywhere.
class Follower {
 public:
  Follower(const std::vector<CounterSample>& samples, std::vector<Signal> signals,
           std::vector<std::size_t> guides)
      : samples_(samples), signals_(std::move(signals)), guides_(std::move(guides)) {}

  struct Place {
    Nanos shift = 0;
    double agreement = 0;
    bool sure = false;  // from its own samples, not its neighbor's
  };

  Place place(Stretch stretch, Nanos expected, bool after_pause) {
    const Nanos interval = samples_[stretch.begin].span.length();
    const auto disagreement = [&](Nanos shift) { return 1 - agreement(stretch, shift); };
    Place found{least_error_shift(disagreement, expected, std::max(kNear, interval),
                                  std::max(interval / 4, 10 * kNsPerUs))};
    found.agreement = agreement(stretch, found.shift);
    const bool enough = stretch.end - stretch.begin >= kLeastStretch;
    found.sure = enough && found.agreement >= kLeastCorrelation;
    if (after_pause && enough && (!found.sure || found.agreement < kSurely) && wide_ < kMostWide) {
      ++wide_;
      look_everywhere(stretch, found);
    }
    if (found.sure) return found;
    return {expected, agreement(stretch, expected), false};  // too little happens in it to tell
  }

 private:
  static constexpr double kSurely = 0.9;

  double agreement(Stretch stretch, Nanos shift) const {
    double sum = 0;
    for (std::size_t i = 0; i < guides_.size(); ++i)
      sum += correlation(
          stretch.end - stretch.begin, signals_[i], shift,
          [&](std::size_t at) { return guide_value(samples_[stretch.begin + at], guides_[i]); },
          [&](std::size_t at) { return samples_[stretch.begin + at].span; });
    return sum / static_cast<double>(guides_.size());
  }

  /// Takes another place only where it agrees far better than the near one.
  void look_everywhere(Stretch stretch, Place& found) const {
    const Nanos interval = samples_[stretch.begin].span.length();
    const auto disagreement = [&](Nanos shift) { return 1 - agreement(stretch, shift); };
    const Nanos shift = least_error_shift(disagreement, 0, kShiftReach,
                                          std::clamp(interval / 4, 10 * kNsPerUs, 250 * kNsPerUs));
    const double there = agreement(stretch, shift);
    if (there >= kSurely && 1 - there < (1 - found.agreement) / 2) found = {shift, there, true};
  }

  const std::vector<CounterSample>& samples_;
  std::vector<Signal> signals_;
  std::vector<std::size_t> guides_;
  int wide_ = 0;
};

/// The metrics that kernels explain best: what the others add is noise.
std::vector<std::size_t> best_explained(const ShiftFound& found) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < found.errors.size(); ++i)
    if (!found.rates[i].empty()) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return found.errors[left] < found.errors[right];
  });
  order.resize(std::min(order.size(), kMostFollowed));
  return order;
}

void add_rows(const std::vector<CounterSample>& samples, Stretch stretch, std::uint32_t number,
              Nanos shift, AlignedSamples& out) {
  for (std::size_t i = stretch.begin; i < stretch.end; ++i) {
    const Interval moved{samples[i].span.start + shift, samples[i].span.end + shift};
    if (holds(out.traced, moved)) out.rows.push_back({moved, samples[i].values, number});
  }
}

/// Gives every stretch its place, from the window that the first shift was found in outwards.
void follow(const std::vector<CounterSample>& samples, Stretch window, Nanos first_shift,
            Follower& follower, AlignedSamples& out) {
  const auto stretches = stretches_of(samples);
  const std::size_t middle = (window.begin + window.end) / 2;
  std::size_t anchor = 0;
  while (anchor + 1 < stretches.size() && stretches[anchor].end <= middle) ++anchor;
  std::vector<Follower::Place> places(stretches.size());
  const auto pause = [&](std::size_t left) {
    return samples[stretches[left + 1].begin].span.start -
               samples[stretches[left].end - 1].span.end >
           kLongPause;
  };
  places[anchor] = follower.place(stretches[anchor], first_shift, false);
  for (std::size_t i = anchor + 1; i < stretches.size(); ++i)
    places[i] = follower.place(stretches[i], places[i - 1].shift, pause(i - 1));
  for (std::size_t i = anchor; i-- > 0;)
    places[i] = follower.place(stretches[i], places[i + 1].shift, pause(i));

  std::vector<double> shifts;
  double agreement = 0, weight = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    add_rows(samples, stretches[i], static_cast<std::uint32_t>(i), places[i].shift, out);
    if (!places[i].sure) continue;
    const auto size = static_cast<double>(stretches[i].end - stretches[i].begin);
    shifts.push_back(static_cast<double>(places[i].shift + samples[stretches[i].begin].steps));
    agreement += places[i].agreement * size;
    weight += size;
  }
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const AlignedSamples::Row& left, const AlignedSamples::Row& right) {
                     return left.span.start < right.span.start;
                   });
  out.shift_ns = first_shift;
  if (!shifts.empty()) out.shift_ns = static_cast<Nanos>(median(shifts));
  if (weight > 0) out.correlation = agreement / weight;
}

}  // namespace

AlignedSamples align_samples(const Capture& capture, std::uint32_t device) {
  AlignedSamples out;
  const Intervals busy = busy_spans(capture, device);
  if (busy.empty()) return out;
  out.traced = traced_spans(capture, busy);
  CounterSamples read = read_counter_samples(capture, device, out.traced);
  auto& samples = read.all;
  std::erase_if(samples, [](const CounterSample& sample) { return !sample.whole; });
  if (samples.empty()) return out;
  const auto guides = guides_of(capture, read.metrics);
  const ClassTimes classes(
      capture, device,
      std::min(kMostClasses, std::min(samples.size(), kMostCoarse) / kSamplesPerClass));
  Stretch window{0, 0};
  int tries = 0;
  for (const Stretch tried : busiest_windows(samples, guides)) {
    std::vector<Observation> observations;
    for (std::size_t i = tried.begin; i < tried.end; ++i) {
      auto& added = observations.emplace_back(Observation{samples[i].span, {}});
      for (const auto guide : guides) added.values.push_back(guide_value(samples[i], guide));
    }
    ShiftFound here = find_shift(observations, classes, out.traced);
    if (tries == 0 || here.verdict == ShiftVerdict::found) {
      out.found = std::move(here);
      window = tried;
    }
    if (out.found.verdict == ShiftVerdict::found || ++tries == kMostTries) break;
  }
  if (out.found.verdict != ShiftVerdict::found) return out;

  out.metrics = read.metrics;
  std::vector<std::size_t> followed;
  std::vector<std::vector<double>> rates;
  for (const auto i : best_explained(out.found)) {
    followed.push_back(guides[i]);
    rates.push_back(std::move(out.found.rates[i]));
  }
  out.found.rates.clear();
  Follower follower(samples, rate_signals(capture, classes.class_of(), rates), std::move(followed));
  follow(samples, window, out.found.shift, follower, out);
  return out;
}

void refine_alignment(const Capture& capture, const std::vector<std::uint32_t>& column_of,
                      const std::vector<SolvedMetric>& solved, AlignedSamples& samples) {
  std::vector<std::vector<double>> rates;
  for (const auto& metric : solved) rates.push_back(metric.rates);
  const auto signals = rate_signals(capture, column_of, rates);
  std::vector<double> moves;
  double fit = 0, weight = 0;
  std::size_t size = 0;
  for (std::size_t from = 0; from < samples.rows.size(); from += size) {
    auto* rows = samples.rows.data() + from;
    size = 1;
    while (from + size < samples.rows.size() && rows[size].stretch == rows[0].stretch) ++size;
    auto agreement = [&](Nanos shift) {
      double sum = 0;
      for (std::size_t metric = 0; metric < solved.size(); ++metric)
        sum += correlation(
            size, signals[metric], shift,
            [&](std::size_t i) { return rows[i].values[solved[metric].metric]; },
            [&](std::size_t i) { return rows[i].span; });
      return sum / static_cast<double>(solved.size());
    };
    if (size < kLeastStretch) continue;
    const Nanos shift = least_error_shift([&](Nanos tried) { return -agreement(tried); }, 0,
                                          kRefine, 15 * kNsPerUs);
    fit += agreement(shift) * static_cast<double>(size);
    weight += static_cast<double>(size);
    moves.push_back(static_cast<double>(shift));
    for (std::size_t i = 0; i < size; ++i)
      rows[i].span = {rows[i].span.start + shift, rows[i].span.end + shift};
  }
  if (moves.empty()) return;
  samples.shift_ns += static_cast<Nanos>(median(moves));
  samples.correlation = fit / weight;
}

}  // namespace gf
