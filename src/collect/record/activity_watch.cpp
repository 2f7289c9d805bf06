#include "collect/record/activity_watch.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/statistics.h"
#include "model/levels.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr double kWorks = 0.02;  // GPU busy share below which nothing happens
// Cells are alike within either of these of their mean.
constexpr double kAlikeShare = 0.15, kAlikePoints = 0.06;
// Another pace differs by more than either of these.
constexpr double kOtherShare = 0.3, kOtherPoints = 0.1;
constexpr int kLate = 2;        // newest cells may still grow
constexpr double kBegun = 0.1;  // GPU busy share of one cell with which work has begun

bool alike(double value, double mean) {
  return std::abs(value - mean) <= std::max(kAlikePoints, kAlikeShare * mean);
}
bool other(double value, double before) {
  return std::abs(value - before) > std::max(kOtherPoints, kOtherShare * before);
}

}  // namespace

void ActivityWatch::add(Nanos start, Nanos end, double busy, double sm_active) {
  if (end <= start || !std::isfinite(busy)) return;
  if (!std::isfinite(sm_active)) sm_active = busy;
  std::lock_guard lock(mutex_);
  while (start < end) {
    const Nanos border = std::min(end, (start / rules_.cell + 1) * rules_.cell);
    if (Cell* cell = cell_at(start / rules_.cell)) {
      const auto length = static_cast<double>(border - start);
      cell->busy += busy * length;
      cell->sm_active += sm_active * length;
      cell->time += border - start;
    }
    start = border;
  }
}

/// Null for cells that are gone.
ActivityWatch::Cell* ActivityWatch::cell_at(std::int64_t number) {
  const auto most = static_cast<std::int64_t>(rules_.cells + kLate + 4);
  if (recent_.empty() || number >= first_ + 3 * most) {  // after a gap everything is old
    recent_.clear();
    first_ = number;
  }
  if (number < first_) return nullptr;
  while (first_ + static_cast<std::int64_t>(recent_.size()) <= number) recent_.emplace_back();
  while (static_cast<std::int64_t>(recent_.size()) > most) {
    recent_.pop_front();
    ++first_;
  }
  return &recent_[static_cast<std::size_t>(number - first_)];
}

void ActivityWatch::program_began(Nanos at) {
  if (began_ == 0) began_ = at;
}

/// The pace of the last whole cells; empty when there are too few since the program began.
std::optional<ActivityWatch::Pace> ActivityWatch::pace() const {
  const auto cells = static_cast<std::size_t>(rules_.cells);
  if (recent_.size() < cells + std::size_t{kLate}) return std::nullopt;
  const std::size_t last = recent_.size() - std::size_t{kLate};
  const std::size_t from = last - cells;
  if ((first_ + static_cast<std::int64_t>(from)) * rules_.cell < began_) return std::nullopt;
  std::vector<Level> levels;
  Pace found;
  for (std::size_t i = from; i < last; ++i) {
    const auto& cell = recent_[i];
    if (cell.time == 0) return std::nullopt;
    const auto time = static_cast<double>(cell.time);
    levels.push_back({cell.busy / time, cell.sm_active / time});
    found.mean.busy += levels.back().busy / rules_.cells;
    found.mean.sm_active += levels.back().sm_active / rules_.cells;
  }
  found.works = found.mean.busy > kWorks;
  found.steady =
      found.works && std::all_of(levels.begin(), levels.end(), [&](const Level& level) {
        return alike(level.busy, found.mean.busy) && alike(level.sm_active, found.mean.sm_active);
      });
  return found;
}

/// The GPU has begun to work after the window at the start had ended without a kernel. A short
/// program would end before its work is seen to be steady.
bool ActivityWatch::works_unseen(Nanos now) const {
  if (kernels_ || now - began_ < rules_.first) return false;
  const auto busy_enough = kBegun * static_cast<double>(rules_.cell);
  const auto unseen = (began_ + rules_.first) / rules_.cell;
  for (std::size_t i = 0; i < recent_.size(); ++i)
    if (first_ + static_cast<std::int64_t>(i) >= unseen && recent_[i].busy >= busy_enough)
      return true;
  return false;
}

std::optional<WindowReason> ActivityWatch::due(Nanos now) {
  std::lock_guard lock(mutex_);
  if (began_ == 0 || given_ >= rules_.most) return std::nullopt;
  const auto current = pace();
  const bool works = current && current->works;
  if (works && working_since_ == 0) working_since_ = now;
  std::optional<WindowReason> why;
  const Nanos since = now - opened_;
  const bool long_ago = opened_ == 0 || since >= rules_.change_after;
  if (opened_ == 0 && works_unseen(now))
    why = WindowReason::begun;
  else if (!works)
    return std::nullopt;
  else if (!recorded_ && current->steady && long_ago)
    why = WindowReason::steady;
  else if (opened_ == 0 && now - working_since_ >= rules_.patience)
    why = WindowReason::unsteady;
  else if (opened_ > 0 && since >= rules_.every)
    why = WindowReason::periodic;
  else if (recorded_ && current->steady && long_ago &&
           (other(current->mean.busy, recorded_->busy) ||
            other(current->mean.sm_active, recorded_->sm_active)))
    why = WindowReason::changed;
  if (!why) return std::nullopt;
  opened_ = now;
  ++given_;
  if (works && current->steady) recorded_ = current->mean;
  return why;
}

void LevelSummary::define(std::vector<std::string> ids, std::vector<bool> counts) {
  ids_ = std::move(ids);
  counts_ = std::move(counts);
  inside_.values.assign(ids_.size(), 0);
  pending_.values.assign(ids_.size(), 0);
  busy_ = static_cast<std::size_t>(std::find(ids_.begin(), ids_.end(), "gpu.busy"_metric) -
                                   ids_.begin());
  for (const LevelRow& row : levels_shown(kForSteps))
    if (const auto at = std::find(ids_.begin(), ids_.end(), row.id); at != ids_.end())
      signals_.push_back(static_cast<std::size_t>(at - ids_.begin()));
  recent_.resize(signals_.size());
}

void LevelSummary::add(Nanos start, Nanos end, const double* values) {
  ++samples_;
  cell_.push_back({start, end, {values, values + ids_.size()}});
  remember(cell_.back());
  if (end - cell_.front().start >= kWorkStretch) close_cell();
}

void LevelSummary::close_cell() {
  double busy = 0, time = 0;
  for (const auto& sum : cell_) {
    const auto length = static_cast<double>(sum.end - sum.start);
    busy += busy_of(sum) * length;
    time += length;
  }
  for (const auto& sum : cell_) count(sum, busy > kWorkShare * time && busy_of(sum) > kTickShare);
  cell_.clear();
}

void LevelSummary::count(const Sample& sample, bool work) {
  if (!any_ && !work) return;
  if (!any_) first_ = sample.start;
  any_ = true;
  const Nanos length = sample.end - sample.start;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    pending_.values[i] +=
        counts_[i] ? sample.values[i] : sample.values[i] * static_cast<double>(length);
  }
  pending_.time += length;
  if (!work) return;
  until_ = sample.end;
  for (std::size_t i = 0; i < ids_.size(); ++i) inside_.values[i] += pending_.values[i];
  inside_.time += pending_.time;
  std::fill(pending_.values.begin(), pending_.values.end(), 0);
  pending_.time = 0;
}

void LevelSummary::remember(const Sample& sample) {
  const Nanos length = sample.end - sample.start;
  if (const Nanos gap = recent_end_ ? sample.start - recent_end_ : 0;
      length > 0 && gap > length / 2) {
    for (std::size_t i = 0; i < last_.values.size(); ++i)
      last_.values[i] = (last_.values[i] + sample.values[i]) / 2;
    for (std::int64_t left = std::min<std::int64_t>((gap + length / 2) / length, kStepSamples);
         left > 0; --left)
      keep(last_.values, length);
  }
  keep(sample.values, length);
  recent_end_ = sample.end;
  last_ = sample;
}

void LevelSummary::keep(const std::vector<double>& values, Nanos length) {
  const std::size_t at = recent_at_++ % kStepSamples;
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    if (recent_[i].size() < kStepSamples)
      recent_[i].push_back(static_cast<float>(values[signals_[i]]));
    else
      recent_[i][at] = static_cast<float>(values[signals_[i]]);
  }
  recent_time_ += length;
  ++kept_;
}

void LevelSummary::fill(RecordedDevice& out) const {
  LevelSummary whole(*this);
  whole.close_cell();
  out.samples = samples_;
  if (!whole.any_ || whole.inside_.time <= 0) return;
  out.span_ns = whole.until_ - whole.first_;
  out.sampled_ns = whole.inside_.time;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (counts_[i])
      out.totals[ids_[i]] = whole.inside_.values[i];
    else
      out.shares[ids_[i]] = whole.inside_.values[i] / static_cast<double>(whole.inside_.time);
  }
  fill_step(out);
}

void LevelSummary::fill_step(RecordedDevice& out) const {
  for (auto signal : recent_) {
    if (signal.size() == kStepSamples)
      std::rotate(signal.begin(),
                  signal.begin() + static_cast<std::ptrdiff_t>(recent_at_ % kStepSamples),
                  signal.end());
    const auto period = find_period(signal);
    if (!period || period->confidence <= out.step_confidence) continue;
    out.step_ns = period->samples * static_cast<double>(recent_time_) / static_cast<double>(kept_);
    out.step_confidence = period->confidence;
  }
}

}  // namespace gf
