#include "analyze/kernel_rates/class_times.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gf {

namespace {

struct ClassOfWork {
  std::uint32_t id;
  Nanos ns = 0;
};

}  // namespace

ClassTimes::ClassTimes(const Capture& capture, std::uint32_t device, std::size_t most_classes)
    : class_of_(capture.activities.size(), kNoRow) {
  using Key = std::tuple<Text, I32, I32, I32>;
  const auto& activities = capture.activities;
  std::map<Key, ClassOfWork> kinds;
  Nanos copies_ns = 0;
  constexpr std::uint32_t kCopies = kNoRow - 1;
  for (std::uint32_t row = 0; row < activities.size(); ++row) {
    if (activities.device[row] != device || activities.duration_ns[row] <= 0) continue;
    if (activities.kind[row] != ActivityKind::kernel) {
      class_of_[row] = kCopies;
      copies_ns += activities.duration_ns[row];
      continue;
    }
    const auto it = kinds
                        .try_emplace(Key{activities.name[row], activities.grid_x[row],
                                         activities.grid_y[row], activities.grid_z[row]},
                                     ClassOfWork{static_cast<std::uint32_t>(kinds.size())})
                        .first;
    it->second.ns += activities.duration_ns[row];
    class_of_[row] = it->second.id;
  }
  std::vector<ClassOfWork> order;
  for (const auto& [key, kind] : kinds) order.push_back(kind);
  std::sort(order.begin(), order.end(), [](const ClassOfWork& left, const ClassOfWork& right) {
    return std::tie(right.ns, left.id) < std::tie(left.ns, right.id);
  });
  // The largest have a class each; what is left of the kernels shares the one before the copies'.
  const std::size_t own = std::min(order.size(), std::max<std::size_t>(most_classes, 3) - 2);
  classes_ = own;
  if (own < order.size()) ++classes_;
  const auto copies = static_cast<std::uint32_t>(classes_);
  if (copies_ns > 0) ++classes_;
  std::vector<std::uint32_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    place[order[i].id] = static_cast<std::uint32_t>(std::min(i, own));
  for (std::uint32_t row = 0; row < activities.size(); ++row) {
    auto& column = class_of_[row];
    if (column == kNoRow) continue;
    if (column == kCopies) {
      column = copies;
    } else {
      column = place[column];
    }
    runs_.push_back(
        {activities.start_ns[row], activities.start_ns[row] + activities.duration_ns[row], column});
  }
  std::sort(runs_.begin(), runs_.end(), [](const Run& left, const Run& right) {
    return std::tie(left.start, left.end, left.column) <
           std::tie(right.start, right.end, right.column);
  });
  for (const auto& run : runs_) {
    Nanos latest = run.end;
    if (!latest_end_.empty()) latest = std::max(latest, latest_end_.back());
    latest_end_.push_back(latest);
  }
}

void ClassTimes::shares(Interval span, std::vector<Share>& out) const {
  out.clear();
  const auto first = std::upper_bound(latest_end_.begin(), latest_end_.end(), span.start);
  const auto length = static_cast<double>(span.length());
  for (auto i = static_cast<std::size_t>(first - latest_end_.begin());
       i < runs_.size() && runs_[i].start < span.end; ++i) {
    const Nanos overlap = std::min(runs_[i].end, span.end) - std::max(runs_[i].start, span.start);
    if (overlap <= 0) continue;
    const double share = static_cast<double>(overlap) / length;
    const auto known = std::find_if(
        out.begin(), out.end(), [&](const Share& one) { return one.column == runs_[i].column; });
    if (known != out.end()) {
      known->share += share;
    } else {
      out.push_back({runs_[i].column, share});
    }
  }
}

}  // namespace gf
