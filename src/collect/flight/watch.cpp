#include "collect/flight/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/statistics.h"

namespace gf {

namespace {

// A job is known after a minute of work; where its gaps are few, ten minutes show their kinds.
constexpr Nanos kKnown = 60 * kNsPerSecond, kKnownWithFewGaps = 600 * kNsPerSecond;
constexpr std::size_t kManyGaps = 100;
constexpr double kWorks = 0.5;     // busy at least so much: idle time is unusual
constexpr double kIdle = 0.05;     // a sample below is part of a gap
constexpr std::size_t kUsual = 5;  // what has come so often within the hour is usual
constexpr double kLonger = 5;      // times a usual gap: random arrivals do not reach it
constexpr Nanos kStall = 250 * kNsPerMs, kLongIdle = 10 * kNsPerSecond;

constexpr Nanos kCell = 10 * kNsPerMs, kSeen = 20 * kNsPerSecond;
constexpr std::size_t kFewestCells = 256;
constexpr double kSure = 0.6;  // confidence of a step's length
constexpr std::size_t kLooks = 12;
constexpr double kAlike = 0.1;  // steps whose lengths spread no wider have one usual length
constexpr double kSlower = 1.2;
constexpr int kSlowLooks = 3;  // in a row

constexpr double kLowClock = 0.85;  // of nearly the lowest of the last ten minutes
constexpr std::size_t kClocks = 60;
constexpr int kLowInARow = 3;

std::string seconds(double ns) {
  if (ns < 1e9) return fmt::format("{:.3g} ms", ns * 1e-6);
  return fmt::format("{:.3g} s", ns * 1e-9);
}

/// Similarity of a signal to itself `lag` samples later, -1 to 1.
double likeness(const std::vector<float>& signal, std::size_t lag) {
  if (lag >= signal.size()) return 0;
  double mean = 0;
  for (const float value : signal) mean += static_cast<double>(value);
  mean /= static_cast<double>(signal.size());
  double power = 0, product = 0;
  for (std::size_t i = 0; i < signal.size(); ++i) {
    const double here = static_cast<double>(signal[i]) - mean;
    power += here * here;
    if (i + lag < signal.size()) product += here * (static_cast<double>(signal[i + lag]) - mean);
  }
  if (power <= 0) return 0;
  return product / power * static_cast<double>(signal.size()) /
         static_cast<double>(signal.size() - lag);
}

}  // namespace

void RecentValues::add(Nanos at, double value) {
  values_.push_back({at, value});
  while (values_.front().at < at - span_) values_.pop_front();
}

double RecentValues::mean() const {
  double sum = 0;
  for (const auto& each : values_) sum += each.value;
  return values_.empty() ? 0 : sum / static_cast<double>(values_.size());
}

double RecentValues::at_rank(std::size_t rank) const {
  std::vector<double> sorted;
  sorted.reserve(values_.size());
  for (const auto& each : values_) sorted.push_back(each.value);
  const auto place = sorted.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(sorted.begin(), place, sorted.end());
  return *place;
}

double RecentValues::from_bottom(std::size_t rank) const { return at_rank(rank); }
double RecentValues::from_top(std::size_t rank) const { return at_rank(values_.size() - 1 - rank); }

void FlightWatch::tell(Nanos at, const char* kind, std::string text) {
  moments_.push_back({at, kind, std::move(text)});
}

std::vector<FlightMoment> FlightWatch::take() { return std::exchange(moments_, {}); }

void FlightWatch::forget() {
  auto moments = std::move(moments_);
  auto holders = std::move(holders_);
  *this = FlightWatch();
  moments_ = std::move(moments);
  holders_ = std::move(holders);
}

void FlightWatch::holders(std::set<std::int64_t> processes) {
  const auto stays = [&](std::int64_t process) { return processes.contains(process); };
  if (holders_ && std::none_of(holders_->begin(), holders_->end(), stays)) forget();
  holders_ = std::move(processes);
  for (auto& moment : std::exchange(stalls_, {})) moments_.push_back(std::move(moment));
}

void FlightWatch::xid(Nanos at, std::int64_t code) {
  tell(at, "xid", fmt::format("the driver reported XID {}", code));
}

/// True if the GPU has worked for long enough to say what is usual.
bool FlightWatch::knows_job(Nanos at) const {
  const Nanos known = since_ > 0 ? at - since_ : 0;
  const bool few = gaps_.size() > 0 && gaps_.size() < kManyGaps;
  return known >= (few ? kKnownWithFewGaps : kKnown) && seconds_.mean() >= kWorks;
}

/// The longest gap that is usual; 0: none is.
double FlightWatch::usual_gap() const {
  return gaps_.size() < kUsual ? 0 : gaps_.from_top(kUsual - 1);
}

void FlightWatch::busy(Nanos start, Nanos end, double share) {
  if (end <= start || !std::isfinite(share)) return;
  if (since_ == 0 && share >= kIdle) since_ = start;
  if (since_ == 0) return;
  if (second_time_ == 0) second_start_ = start;
  second_busy_ += share * static_cast<double>(end - start);
  second_time_ += end - start;
  if (end - second_start_ >= kNsPerSecond) end_second(end);
  if (share >= kIdle) return end_gap(start);
  if (gap_start_ == 0) gap_start_ = start;
  const auto length = static_cast<double>(end - gap_start_);
  const bool held = !holders_ || !holders_->empty();
  if (gap_told_ || !held || end - gap_start_ < kLongIdle || length < kLonger * usual_gap() ||
      !knows_job(gap_start_))
    return;
  gap_told_ = true;
  tell(gap_start_, "idle",
       fmt::format("idle for {} and longer, while processes hold its memory; usual gaps are up to "
                   "{}",
                   seconds(length), seconds(usual_gap())));
}

void FlightWatch::end_gap(Nanos end) {
  if (gap_start_ == 0) return;
  const Nanos start = std::exchange(gap_start_, 0);
  const auto length = static_cast<double>(end - start);
  const bool told = std::exchange(gap_told_, false);
  if (!told && end - start >= kStall && length >= kLonger * usual_gap() && knows_job(start))
    stalls_.push_back({start, "stall",
                       fmt::format("stalled for {}; usual gaps are up to {}", seconds(length),
                                   seconds(usual_gap()))});
  // The end of one job and the start of the next are no stall.
  if (!holders_)
    for (auto& moment : std::exchange(stalls_, {})) moments_.push_back(std::move(moment));
  gaps_.add(end, length);
}

void FlightWatch::end_second(Nanos at) {
  last_second_ = second_busy_ / static_cast<double>(second_time_);
  // A long gap is no part of what is usual; its length is.
  if (gap_start_ == 0 || at - gap_start_ < kLongIdle) seconds_.add(at, last_second_);
  second_busy_ = 0;
  second_time_ = 0;
}

void FlightWatch::clock(Nanos at, double hertz) {
  if (last_second_ < kWorks || gap_start_ > 0) return;  // an idle GPU lowers its clocks
  const bool known = clocks_.size() >= kClocks;
  const double low = known ? clocks_.from_bottom(clocks_.size() / 20) : 0;
  if (low_clocks_ >= kLowInARow && hertz < kLowClock * low) return;  // told already
  if (hertz >= kLowClock * low)
    low_clocks_ = 0;
  else if (++low_clocks_ == kLowInARow)
    tell(
        at, "clock_drop",
        fmt::format("the SM clock dropped to {:.0f} MHz under load; it was above {:.0f} MHz for 95 "
                    "% of the last minutes",
                    hertz * 1e-6, low * 1e-6));
  if (low_clocks_ == 0) clocks_.add(at, hertz);
}

void FlightWatch::sm_active(Nanos start, Nanos end, double share) {
  if (end <= start || !std::isfinite(share) || since_ == 0) return;
  cell_sum_ += share * static_cast<double>(end - start);
  cell_time_ += end - start;
  if (cell_time_ < kCell) return;
  const Nanos length = cell_time_;
  cells_.push_back(static_cast<float>(cell_sum_ / static_cast<double>(length)));
  cell_sum_ = 0;
  cell_time_ = 0;
  cell_length_ = cell_length_ == 0 ? length : (cell_length_ * 15 + length) / 16;
  const auto wanted =
      std::max(kFewestCells, static_cast<std::size_t>(kSeen / std::max<Nanos>(cell_length_, 1)));
  while (cells_.size() > wanted) cells_.pop_front();
  if (cells_.size() < wanted || ++fresh_ < wanted / 4) return;
  fresh_ = 0;
  look_for_steps(end);
}

/// The length of a step that repeats through the newest half of what is seen, or through all of it.
void FlightWatch::look_for_steps(Nanos at) {
  const std::vector<float> all(cells_.begin(), cells_.end());
  std::vector<float> signal(all.end() - static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  auto period = find_period(signal);
  if (!period || period->confidence < kSure) period = find_period(signal = all);
  if (!period || period->confidence < kSure) {
    slow_looks_ = 0;
    return;
  }
  const auto cell = static_cast<double>(cell_length_);
  const double step = period->samples * cell;
  if (steps_.size() < kLooks) return steps_.add(at, step);
  const double usual = steps_.from_top(steps_.size() / 2);
  const bool same = std::abs(step - usual) <= kAlike * usual;
  // Every second or third step alike is no slower step.
  const auto lag = static_cast<std::size_t>(std::lround(usual / cell));
  if (!same && likeness(signal, lag) >= period->confidence / 2) return;
  judge_step(at, step, usual);
}

void FlightWatch::judge_step(Nanos at, double step, double usual) {
  // Around a change, both steps are seen, and what they have in common is no step.
  const bool again = std::abs(step - last_step_) <= kAlike * step;
  last_step_ = step;
  slow_looks_ = again ? slow_looks_ + 1 : 1;
  const double longest = steps_.from_top(steps_.size() / 5);
  const double shortest = steps_.from_bottom(steps_.size() / 5);
  const bool steady = longest - shortest <= 2 * kAlike * usual;
  if (slow_looks_ == kSlowLooks && steady && step > kSlower * longest)
    tell(at, "slower_steps",
         fmt::format("steps take {}; they took {}", seconds(step), seconds(usual)));
  if (slow_looks_ >= kSlowLooks || step <= kSlower * longest) steps_.add(at, step);
}

}  // namespace gf
