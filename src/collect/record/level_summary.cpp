#include "collect/record/level_summary.h"

#include <algorithm>

#include "core/period.h"
#include "model/activity.h"
#include "model/levels.h"
#include "model/metric_id.h"

namespace gf {

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
