#include "collect/record/activity_watch.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gf {

namespace {

constexpr double kWorks = 0.02;  // GPU busy share below which nothing happens
// Cells are alike within either of these of their mean.
constexpr double kAlikeShare = 0.15, kAlikePoints = 0.06;
// Another pace differs by more than either of these.
constexpr double kOtherShare = 0.3, kOtherPoints = 0.1;
constexpr int kLate = 2;  // newest cells may still grow

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

/// Of the last cells that are whole; empty when there are too few since the program began.
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

std::optional<WindowReason> ActivityWatch::due(Nanos now) {
  std::lock_guard lock(mutex_);
  if (began_ == 0 || given_ >= rules_.most) return std::nullopt;
  const auto current = pace();
  if (!current || !current->works) return std::nullopt;
  if (working_since_ == 0) working_since_ = now;
  std::optional<WindowReason> why;
  const Nanos since = now - opened_;
  if (!recorded_ && current->steady)
    why = WindowReason::steady;
  else if (opened_ == 0 && now - working_since_ >= rules_.patience)
    why = WindowReason::unsteady;
  else if (opened_ > 0 && since >= rules_.every)
    why = WindowReason::periodic;
  else if (recorded_ && current->steady && since >= rules_.change_after &&
           (other(current->mean.busy, recorded_->busy) ||
            other(current->mean.sm_active, recorded_->sm_active)))
    why = WindowReason::changed;
  if (!why) return std::nullopt;
  opened_ = now;
  ++given_;
  if (current->steady) recorded_ = current->mean;
  return why;
}

}  // namespace gf
