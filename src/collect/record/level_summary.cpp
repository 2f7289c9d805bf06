#include "collect/record/level_summary.h"

#include <algorithm>

#include "core/period.h"

namespace gf {

namespace {
constexpr std::size_t kRecent = 16384;
constexpr double kWork = 0.01;  // a sample counts as work when the GPU was busy for more than this share of it; drivers tick now and then
}  // namespace

void LevelSummary::define(std::vector<std::string> ids, std::vector<bool> counts) {
  ids_ = std::move(ids);
  counts_ = std::move(counts);
  inside_.values.assign(ids_.size(), 0);
  pending_.values.assign(ids_.size(), 0);
  busy_ = static_cast<std::size_t>(std::find(ids_.begin(), ids_.end(), "gpu.busy") - ids_.begin());
}

void LevelSummary::fold(Sums& into, const Sums& from) {
  for (std::size_t i = 0; i < into.values.size(); ++i) into.values[i] += from.values[i];
  into.time += from.time;
}

void LevelSummary::add(Nanos start, Nanos end, const double* values) {
  ++samples_;
  const Nanos length = end - start;
  const double busy = busy_ < ids_.size() ? values[busy_] : 1;
  if (const Nanos gap = recent_end_ ? start - recent_end_ : 0; length > 0 && gap > length / 2)
    for (std::int64_t n = std::min<std::int64_t>((gap + length / 2) / length, kRecent); n > 0; --n) remember((busy + recent_busy_) / 2, length);
  remember(busy, length);
  recent_end_ = end;
  recent_busy_ = busy;
  const bool work = busy > kWork;
  if (!any_ && !work) return;
  if (!any_) first_ = start;
  any_ = true;
  for (std::size_t i = 0; i < ids_.size(); ++i) pending_.values[i] += counts_[i] ? values[i] : values[i] * static_cast<double>(length);
  pending_.time += length;
  if (!work) return;
  last_ = end;
  fold(inside_, pending_);
  std::fill(pending_.values.begin(), pending_.values.end(), 0);
  pending_.time = 0;
}

void LevelSummary::remember(double busy, Nanos length) {
  if (recent_.size() < kRecent) recent_.push_back(static_cast<float>(busy));
  else recent_[recent_at_++ % kRecent] = static_cast<float>(busy);
  recent_time_ += length;
  ++remembered_;
}

std::optional<Interval> LevelSummary::active() const {
  if (!any_) return {};
  return Interval{first_, last_};
}

void LevelSummary::fill(RecordedDevice& out) const {
  out.samples = samples_;
  if (!any_ || inside_.time <= 0) return;
  out.span_ns = last_ - first_;
  out.sampled_ns = inside_.time;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (counts_[i]) out.totals[ids_[i]] = inside_.values[i];
    else out.shares[ids_[i]] = inside_.values[i] / static_cast<double>(inside_.time);
  }
  std::vector<float> signal(recent_);
  if (recent_at_) std::rotate(signal.begin(), signal.begin() + static_cast<std::ptrdiff_t>(recent_at_ % kRecent), signal.end());
  if (auto period = find_period(signal)) {
    out.step_ns = period->samples * static_cast<double>(recent_time_) / static_cast<double>(remembered_);
    out.step_confidence = period->confidence;
  }
}

}  // namespace gf
