// Power, energy and clocks: what a board can have, and whether its energy counter and its power
// tell the same.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/format.h"
#include "model/check.h"
#include "model/ledger/ledger.h"
#include "model/metrics.h"

namespace gf {

namespace {

/// No board of one GPU takes more: the largest are limited to 1.4 kW. Readings pass a board's own
/// limit for an instant, never by half.
constexpr double kMostWatts = 2000, kOverLimit = 1.5;
/// Counters of energy move ten times a second or more often.
constexpr double kCounterSeconds = 1;
/// Some boards measure their power for a quarter of the time: its integral may be off by half.
constexpr double kMostRatio = 2;
/// A counter that moves so often stands still no longer than this, however sparse its readings.
constexpr Nanos kLongestStill = 2 * kNsPerSecond;
constexpr std::size_t kStillReadings = 10;
/// Readings that lie further apart say nothing of what lay between.
constexpr Nanos kFarApart = 5 * kNsPerSecond;
/// A log whose readings lie this many times their median distance apart has a hole there, and one
/// that misses more of the GPU's work than this share says little of it.
constexpr Nanos kHole = 4;
constexpr double kMostMissed = 0.1;

/// One in so many of a recording's samples may be missing.
constexpr double kFewMissing = 100;

struct Range {
  std::string_view metrics;  // their names begin so
  double low, high;          // 0 is plausible too: what sleeps has no clock
};
constexpr Range kRanges[] = {
    {"power.", 0, kMostWatts},          {"clock.sm"_metric, 1e7, 2e10},
    {"clock.memory"_metric, 1e7, 2e10}, {"monitor.gpu"_metric, 0, 1.01},
    {"monitor.memory"_metric, 0, 1.01}, {"temperature.", -100, 200},
};

struct Reading {
  Nanos time;
  double value;
};

class ReadingLedger {
 public:
  explicit ReadingLedger(Capture& capture)
      : capture_(capture), rows_(capture.counter_samples), values_(capture.counter_samples.value) {}

  /// Checks that the readings of power and energy cover the time in which the GPU worked.
  void check_cover() {
    const auto& activities = std::as_const(capture_).activities;
    for (std::uint32_t device = 0; device < capture_.devices.size(); ++device) {
      const auto holes = holes_of(device);
      Nanos worked = 0, missed = 0;
      for (std::size_t row = 0; row < activities.size() && !holes.empty(); ++row) {
        if (activities.device[row] != device) continue;
        const Interval span{activities.start_ns[row],
                            activities.start_ns[row] + activities.duration_ns[row]};
        worked += span.end - span.start;
        missed += overlap(holes, span);
      }
      if (static_cast<double>(missed) <= kMostMissed * static_cast<double>(worked)) continue;
      capture_.note_quality(
          QualityCode::readings_missing,
          fmt::format("power and energy readings have gaps while GPU {} is active: in {} of {} of "
                      "kernels and copies",
                      capture_.devices.id[device], say_time(missed), say_time(worked)));
    }
  }

  /// Checks a log that stands alone for holes.
  void check_log() {
    for (std::uint32_t device = 0; device < capture_.devices.size(); ++device) {
      const auto times = times_of(device);
      Nanos missed = 0;
      for (const auto& hole : holes_between(times)) missed += hole.end - hole.start;
      if (times.empty() || static_cast<double>(missed) <=
                               kMostMissed * static_cast<double>(times.back() - times.front()))
        continue;
      capture_.note_quality(
          QualityCode::log_has_holes,
          fmt::format("power and energy readings of GPU {} have gaps: of {} from the first to the "
                      "last, {} have none",
                      capture_.devices.id[device], say_time(times.back() - times.front()),
                      say_time(missed)));
    }
  }

  void run() {
    check_ranges();
    for (std::uint32_t device = 0; device < capture_.devices.size(); ++device) {
      const double limit = limit_of(device);
      take_above(device, limit);
      check_counter(device, limit);
    }
  }

 private:
  void check_ranges() {
    std::vector<const Range*> of_metric(capture_.strings.size(), nullptr);
    std::vector<bool> known(capture_.strings.size(), false);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const auto metric = static_cast<std::size_t>(rows_.metric[row]);
      if (!known[metric]) {
        known[metric] = true;
        for (const Range& range : kRanges)
          if (capture_.text(rows_.metric[row]).starts_with(range.metrics))
            of_metric[metric] = &range;
      }
      const Range* range = of_metric[metric];
      const double value = rows_.value[row];
      if (!range || std::isnan(value) || value == 0 ||
          (value >= range->low && value <= range->high))
        continue;
      note_reading(row);
    }
  }

  void note_reading(std::size_t row) {
    const double value = std::exchange(values_[row], NAN);
    capture_.note_quality(
        QualityCode::implausible_reading,
        fmt::format("implausible readings are ignored (first: {} = {:g}): is the unit right?",
                    capture_.text(rows_.metric[row]), value));
  }

  std::vector<Reading> series(std::uint32_t device, std::string_view metric) const {
    std::vector<Reading> out;
    const Text id = capture_.strings.find(metric);
    if (id == Text::none) return out;
    for (std::size_t row = 0; row < rows_.size(); ++row)
      if (rows_.device[row] == device && rows_.metric[row] == id && std::isfinite(rows_.value[row]))
        out.push_back({rows_.start_ns[row], rows_.value[row]});
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& left, const auto& right) { return left.time < right.time; });
    return out;
  }

  /// When power or energy were read, in order.
  std::vector<Nanos> times_of(std::uint32_t device) const {
    std::vector<Nanos> times;
    for (const auto metric :
         {"energy.module"_metric, "power.module"_metric, "power.average"_metric})
      for (const auto& reading : series(device, metric)) times.push_back(reading.time);
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
  }

  static Nanos hole_from(const std::vector<Nanos>& times) {
    std::vector<Nanos> apart;
    for (std::size_t i = 1; i < times.size(); ++i) apart.push_back(times[i] - times[i - 1]);
    const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
    std::nth_element(apart.begin(), middle, apart.end());
    return kHole * std::min(*middle, kFarthestTime / kHole);
  }

  static std::vector<Interval> holes_between(const std::vector<Nanos>& times) {
    std::vector<Interval> holes;
    if (times.size() < 3) return holes;
    const Nanos far = hole_from(times);
    for (std::size_t i = 1; i < times.size(); ++i)
      if (times[i] - times[i - 1] > far) holes.push_back({times[i - 1], times[i]});
    return holes;
  }

  /// The spans without a reading of power or energy, before the first and behind the last one too;
  /// empty where there are none, or none of the time of the capture's work.
  std::vector<Interval> holes_of(std::uint32_t device) const {
    const auto times = times_of(device);
    const Interval work = work_of(device);
    if (times.size() < 3 || times.back() < work.start || times.front() > work.end) return {};
    const Nanos far = hole_from(times);
    auto holes = holes_between(times);
    holes.insert(holes.begin(), {-kFarthestTime, times.front() - far});
    holes.push_back({times.back() + far, kFarthestTime});
    return holes;
  }

  Interval work_of(std::uint32_t device) const {
    const auto& rows = capture_.activities;
    Interval work{kFarthestTime, -kFarthestTime};
    for (std::size_t row = 0; row < rows.size(); ++row)
      if (rows.device[row] == device)
        work = {std::min<Nanos>(work.start, rows.start_ns[row]),
                std::max<Nanos>(work.end, rows.start_ns[row] + rows.duration_ns[row])};
    return work;
  }

  static Nanos overlap(const std::vector<Interval>& holes, Interval span) {
    auto hole = std::partition_point(holes.begin(), holes.end(),
                                     [&](const Interval& one) { return one.end <= span.start; });
    Nanos sum = 0;
    for (; hole != holes.end() && hole->start < span.end; ++hole)
      sum += std::min(hole->end, span.end) - std::max(hole->start, span.start);
    return sum;
  }

  double limit_of(std::uint32_t device) const {
    double most = 0;
    for (const auto& limit : series(device, "power.limit"_metric))
      most = std::max(most, limit.value * kOverLimit);
    return most > 0 ? std::min(most, kMostWatts) : kMostWatts;
  }

  void take_above(std::uint32_t device, double limit) {
    if (limit == kMostWatts) return;
    const Text instant = capture_.strings.find("power.module"_metric),
               average = capture_.strings.find("power.average"_metric);
    for (std::size_t row = 0; row < rows_.size(); ++row)
      if (rows_.device[row] == device && rows_.metric[row] != Text::none &&
          (rows_.metric[row] == instant || rows_.metric[row] == average) &&
          rows_.value[row] > limit)
        note_reading(row);
  }

  void take_metric(std::uint32_t device, std::string_view metric) {
    const Text id = capture_.strings.find(metric);
    for (std::size_t row = 0; row < rows_.size() && id != Text::none; ++row)
      if (rows_.device[row] == device && rows_.metric[row] == id) values_[row] = NAN;
  }

  void check_counter(std::uint32_t device, double limit) {
    const auto counter = series(device, "energy.module"_metric);
    for (std::size_t i = 1; i < counter.size(); ++i) {
      const double joules = counter[i].value - counter[i - 1].value;
      const Nanos length = counter[i].time - counter[i - 1].time;
      if (joules >= 0 && joules <= limit * (static_cast<double>(length) * 1e-9 + kCounterSeconds))
        continue;
      return drop_counter(device, fmt::format("goes by {:.6g} J in {}, which no board can", joules,
                                              say_time(length)));
    }
    if (const Nanos still = longest_still(counter); still > 0)
      return drop_counter(
          device, fmt::format("stands still for {}, which no board's does", say_time(still)));
    compare(device, counter);
  }

  /// For how long a counter that moved before or after did not, where many readings say so.
  static Nanos longest_still(const std::vector<Reading>& counter) {
    if (counter.empty() || counter.front().value == counter.back().value) return 0;
    Nanos longest = 0;
    for (std::size_t from = 0, to = 0; from < counter.size(); from = to) {
      while (to < counter.size() && counter[to].value == counter[from].value) ++to;
      if (to - from >= kStillReadings)
        longest = std::max(longest, counter[to - 1].time - counter[from].time);
    }
    return longest > kLongestStill ? longest : 0;
  }

  void drop_counter(std::uint32_t device, const std::string& what) {
    take_metric(device, "energy.module"_metric);
    capture_.note_quality(QualityCode::implausible_reading,
                          fmt::format("the energy counter of GPU {} {}: it is left out, energy is "
                                      "that of the power readings",
                                      capture_.devices.id[device], what));
  }

  /// The counter's gain against the integral of the power, where readings follow each other.
  void compare(std::uint32_t device, const std::vector<Reading>& counter) {
    auto power = series(device, "power.module"_metric);
    if (power.empty()) power = series(device, "power.average"_metric);
    if (power.empty() || counter.size() < 2) return;
    double gained = 0, integral = 0, most = 0;
    std::size_t at = 0;
    for (std::size_t i = 1; i < counter.size(); ++i) {
      const Nanos from = std::max(counter[i - 1].time, power.front().time), to = counter[i].time;
      if (to - from > kFarApart || counter[i - 1].time < power.front().time ||
          to > power.back().time + kFarApart)
        continue;
      gained += counter[i].value - counter[i - 1].value;
      for (Nanos time = from; time < to;) {
        while (at + 1 < power.size() && power[at + 1].time <= time) ++at;
        const Nanos next = at + 1 < power.size() ? std::min(power[at + 1].time, to) : to;
        integral += power[at].value * static_cast<double>(next - time) * 1e-9;
        most = std::max(most, power[at].value);
        time = next;
      }
    }
    const double slack = most * kCounterSeconds;
    if (gained <= integral * kMostRatio + slack && integral <= gained * kMostRatio + slack) return;
    if (gained == 0) return drop_counter(device, "does not move");
    for (const auto metric :
         {"energy.module"_metric, "power.module"_metric, "power.average"_metric})
      take_metric(device, metric);
    capture_.note_quality(
        QualityCode::readings_disagree,
        fmt::format("the energy counter of GPU {} gained {:.4g} J while its power adds up to "
                    "{:.4g} J: one of them is wrong, and both are ignored",
                    capture_.devices.id[device], gained, integral));
  }

  Capture& capture_;
  const counter_samples_table& rows_;  // reading leaves columns folded and narrow
  Column<F64>& values_;                // of them, to write
};

}  // namespace

namespace {

/// Blocks of samples follow each other without a hole, up to the recording's end. A recorder notes
/// itself what it lost.
void check_blocks(Capture& capture) {
  constexpr QualityCode kTold[] = {QualityCode::lost_samples,     QualityCode::few_lost_samples,
                                   QualityCode::buffer_overflow,  QualityCode::bad_sample_block,
                                   QualityCode::counters_ended,   QualityCode::gpu_lost,
                                   QualityCode::unwritten_samples};
  if (std::ranges::any_of(kTold, [&](auto told) { return capture.noted(told); })) return;
  struct Span {
    Nanos first = 0, last = 0, missing = 0;
    std::int64_t samples = 0;
  };
  std::map<std::uint32_t, Span> devices;
  for (const PackedBlock& block : capture.sample_blocks) {
    if (!in_reach(block.first_ns) || !in_reach(block.last_ns)) continue;
    auto [found, fresh] = devices.try_emplace(block.device, Span{block.first_ns, block.last_ns});
    Span& span = found->second;
    if (!fresh && block.first_ns > span.last) span.missing += block.first_ns - span.last;
    span.last = std::max(span.last, block.last_ns);
    span.samples += block.samples;
  }
  for (const auto& [device, span] : devices) {
    const Nanos length = span.last - span.first;
    if (span.missing <= 0 || span.samples == 0 || length <= 0) continue;
    const auto missing =
        static_cast<double>(span.missing) / static_cast<double>(length - span.missing);
    const auto count = static_cast<std::int64_t>(missing * static_cast<double>(span.samples));
    if (count == 0) continue;
    capture.note_quality(
        static_cast<double>(span.missing) * kFewMissing > static_cast<double>(length)
            ? QualityCode::lost_samples
            : QualityCode::few_lost_samples,
        fmt::format("the blocks of counter samples have holes: about {} samples are missing, {} "
                    "of {}",
                    format_count(count), say_time(span.missing), say_time(length)),
        count);
  }
}

}  // namespace

void check_readings(Capture& capture) {
  if (!capture.sample_blocks.empty()) check_blocks(capture);
  if (capture.counter_samples.empty()) return;
  ReadingLedger ledger(capture);
  ledger.run();
  // A recording keeps a reading where it changes.
  if (capture.activities.empty() && capture.metadata_value("record.start_ns").empty())
    ledger.check_log();
}

void check_cover(Capture& capture) { ReadingLedger(capture).check_cover(); }

}  // namespace gf
