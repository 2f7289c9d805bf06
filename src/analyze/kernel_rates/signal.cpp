#include "analyze/kernel_rates/signal.h"

#include <algorithm>

namespace gf {

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

}  // namespace gf
