#include "analyze/energy/power_curve.h"

#include <algorithm>
#include <cmath>

#include "core/statistics.h"
#include "model/counter_values.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr Nanos kReach = 250 * kNsPerMs;

std::vector<PowerReading> series(const Capture& capture, std::uint32_t device,
                                 std::string_view metric) {
  std::vector<PowerReading> out;
  const Text id = capture.strings.find(metric);
  if (id == Text::none) return out;
  each_counter_value(capture, kAllTime, {device, {id}},
                     [&](std::uint32_t, Text, Nanos start, Nanos, double value) {
                       if (std::isfinite(value) && value >= 0) out.push_back({start, value});
                     });
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& left, const auto& right) { return left.time < right.time; });
  return out;
}

double seconds(Nanos ns) { return static_cast<double>(ns) * 1e-9; }

/// Integral of the power over time. Between two readings of an instant the power lies on the line
/// between them; an average holds until the next one. Beyond the last reading it goes on.
class Integral {
 public:
  Integral(const std::vector<PowerReading>& power, bool instant)
      : power_(power), before_(power.size(), 0), instant_(instant) {
    for (std::size_t i = 1; i < power.size(); ++i)
      before_[i] = before_[i - 1] + piece(i - 1, power[i].time);
  }
  double until(Nanos time) const {
    if (power_.empty()) return 0;
    auto at = std::upper_bound(power_.begin(), power_.end(), time,
                               [](Nanos moment, const PowerReading& power_reading) {
                                 return moment < power_reading.time;
                               });
    const auto index = at == power_.begin() ? 0 : static_cast<std::size_t>(at - power_.begin()) - 1;
    return before_[index] + piece(index, time);
  }

 private:
  /// Joules from reading i to a time before the next.
  double piece(std::size_t index, Nanos time) const {
    const double length = seconds(time - power_[index].time);
    double watts = power_[index].watts;
    if (instant_ && index + 1 < power_.size() && length > 0) {
      const double whole = seconds(power_[index + 1].time - power_[index].time);
      if (whole > 0) watts += (power_[index + 1].watts - power_[index].watts) * length / whole / 2;
    }
    return watts * length;
  }
  const std::vector<PowerReading>& power_;
  std::vector<double> before_;
  bool instant_;
};

/// Median time between two different values: what the sensor needs for a new one, or the reader.
Nanos period_of(const std::vector<PowerReading>& readings) {
  std::vector<double> gaps;
  Nanos last = 0;
  for (std::size_t i = 1; i < readings.size(); ++i)
    if (readings[i].watts != readings[i - 1].watts) {
      if (last) gaps.push_back(static_cast<double>(readings[i].time - last));
      last = readings[i].time;
    }
  return gaps.empty() ? 0 : static_cast<Nanos>(median(gaps));
}

/// The reach of a reading: the longest time between two, unless that is a gap in the log.
Nanos reach_of(const std::vector<Nanos>& times) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < times.size(); ++i)
    gaps.push_back(static_cast<double>(times[i] - times[i - 1]));
  const double longest = *std::max_element(gaps.begin(), gaps.end());
  return std::max(kReach, static_cast<Nanos>(std::min(longest, 2 * median(std::move(gaps)))));
}

}  // namespace

PowerCurve::PowerCurve(const Capture& capture, std::uint32_t device) {
  power_ = series(capture, device, "power.module"_metric);
  source_ = EnergySource::power_instant;
  if (power_.empty()) {
    power_ = series(capture, device, "power.average"_metric);
    source_ = EnergySource::power_average;
  }
  const auto counter = series(capture, device, "energy.module"_metric);
  // The counter moves in steps: a value counts from the moment that it was first seen. One that
  // falls was reset.
  std::vector<PowerReading> steps;
  for (const auto& reading : counter)
    if (steps.empty() || reading.watts != steps.back().watts) steps.push_back(reading);
  const bool falls =
      !std::is_sorted(steps.begin(), steps.end(),
                      [](const auto& left, const auto& right) { return left.watts < right.watts; });
  period_ = period_of(power_);
  const bool counted = steps.size() >= 2 && !falls;
  const Integral shape(power_, source_ == EnergySource::power_instant && !counted);
  auto knot = [&](Nanos time, double joules) {
    if (!times_.empty() && time <= times_.back()) return;
    times_.push_back(time);
    joules_.push_back(joules);
  };
  if (counted) {
    source_ = EnergySource::energy_counter;
    period_ = period_of(steps);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i > 0) {  // knots at the readings of power in between, where the joules go by the power's
                    // share
        const double from = shape.until(steps[i - 1].time), all = shape.until(steps[i].time) - from,
                     gain = steps[i].watts - steps[i - 1].watts;
        auto at = std::upper_bound(power_.begin(), power_.end(), steps[i - 1].time,
                                   [](Nanos moment, const PowerReading& power_reading) {
                                     return moment < power_reading.time;
                                   });
        for (; all > 0 && at != power_.end() && at->time < steps[i].time; ++at)
          knot(at->time, steps[i - 1].watts - steps.front().watts +
                             gain * (shape.until(at->time) - from) / all);
      }
      knot(steps[i].time, steps[i].watts - steps.front().watts);
    }
    if (power_.empty())
      for (std::size_t i = 1; i < times_.size(); ++i)
        power_.push_back(
            {times_[i - 1], (joules_[i] - joules_[i - 1]) / seconds(times_[i] - times_[i - 1])});
  } else {
    for (const auto& power : power_) knot(power.time, shape.until(power.time));
    if (source_ == EnergySource::power_instant) bend();
  }
  if (times_.size() < 2) {
    source_ = EnergySource::none;
    return;
  }
  known_ = {times_.front(), times_.back()};
  reach_ = reach_of(times_);
}

double PowerCurve::joules_until(Nanos time) const {
  if (time < times_.front())
    return joules_.front() - power_.front().watts * seconds(times_.front() - time);
  if (time >= times_.back())
    return joules_.back() + power_.back().watts * seconds(time - times_.back());
  const auto index = static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), time) -
                                              times_.begin()) -
                     1;
  const double share = seconds(time - times_[index]) / seconds(times_[index + 1] - times_[index]);
  const double bent = bends_.empty() ? 0 : bends_[index] * share * (share - 1);
  return joules_[index] + (joules_[index + 1] - joules_[index]) * share + bent;
}

/// On a line between two readings energy grows with the square of the time: from less than its
/// share where power rises, to more where it falls.
void PowerCurve::bend() {
  for (std::size_t i = 1; i < power_.size(); ++i) {
    const double length = seconds(power_[i].time - power_[i - 1].time);
    if (length > 0) bends_.push_back(length * (power_[i].watts - power_[i - 1].watts) / 2);
  }
}

std::optional<std::int64_t> PowerCurve::nanojoules(Interval span) const {
  if (source_ == EnergySource::none || span.start < known_.start - reach_ ||
      span.end > known_.end + reach_)
    return std::nullopt;
  return std::llround(joules_until(span.end) * 1e9) - std::llround(joules_until(span.start) * 1e9);
}

std::vector<PowerReading> PowerCurve::readings(Interval span, std::size_t most) const {
  std::vector<PowerReading> all;
  for (const auto& power : power_)
    if (power.time <= span.start)
      all.assign(1, {span.start, power.watts});  // the one that holds when the span begins
    else if (power.time >= span.start && power.time < span.end &&
             (all.empty() || power.watts != all.back().watts ||
              power.time - all.back().time > kNsPerSecond))
      all.push_back(power);
  if (most == 0 || all.size() <= most) return all;
  std::vector<PowerReading>
      fewer;  // means of equal stretches: no peak is passed over silently, each is in its mean
  const Nanos stretch = span.length() / static_cast<Nanos>(most) + 1;
  for (std::size_t i = 0; i < all.size();) {
    const Nanos end = span.start + ((all[i].time - span.start) / stretch + 1) * stretch;
    double sum = 0;
    std::size_t count = 0;
    const Nanos first = all[i].time;
    for (; i < all.size() && all[i].time < end; ++i) {
      sum += all[i].watts;
      ++count;
    }
    fewer.push_back({first, sum / static_cast<double>(count)});
  }
  return fewer;
}

}  // namespace gf
