#include "analyze/kernel_rates/columns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "core/statistics.h"

namespace gf {

namespace {

constexpr std::size_t kMostGroups = 240, kMostPlaces = 300;  // the largest by time
constexpr std::int64_t kLeastInstances = 8;                  // of a place that gets its own unknown

/// Hashes a sequence of small numbers, one after the other.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  return hash * 0x9e3779b97f4a7c15u + value;
}

/// Kernels with a group, in order of time.
std::vector<std::uint32_t> grouped_kernels(const Capture& capture, const KernelColumns& columns) {
  const auto& activities = capture.activities;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < activities.size(); ++row)
    if (columns.group_of[row] != kNoRow) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [&](auto left, auto right) {
    return activities.start_ns[left] < activities.start_ns[right];
  });
  return rows;
}

/// A place: the kernel with the two before and the two after it.
struct SequencePlace {
  std::uint32_t group = 0, column = kNoRow;
  std::int64_t instances = 0;
  double ns = 0;
};

struct SequencePlaces {
  std::unordered_map<std::uint64_t, SequencePlace> by_key;
  std::vector<std::uint64_t> key_of;  // by position in the rows
};

SequencePlaces find_places(const Capture& capture, const KernelColumns& columns,
                           const std::vector<std::uint32_t>& rows) {
  SequencePlaces out;
  out.key_of.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::uint64_t key = columns.group_of[rows[i]] + 1;
    for (std::ptrdiff_t shift : {-2, -1, 1, 2}) {
      const auto at = static_cast<std::ptrdiff_t>(i) + shift;
      key = mixed(key, at >= 0 && at < static_cast<std::ptrdiff_t>(rows.size())
                           ? columns.group_of[rows[static_cast<std::size_t>(at)]] + 2u
                           : 1u);
    }
    out.key_of[i] = key;
    auto& place = out.by_key[key];
    place.group = columns.group_of[rows[i]];
    ++place.instances;
    place.ns += static_cast<double>(capture.activities.duration_ns[rows[i]]);
  }
  return out;
}

/// Counts the places of each group: most come once a step.
void count_places(const SequencePlaces& places, KernelColumns& out) {
  std::vector<double> times, weights;
  for (const auto& [key, place] : places.by_key) {
    times.push_back(static_cast<double>(place.instances));
    weights.push_back(place.ns);
  }
  double steps = times.empty() ? 1 : std::max(distribution(times, weights).median, 1.0);
  for (const auto& group : out.groups)
    out.places.push_back(
        std::max<std::int64_t>(std::llround(static_cast<double>(group.instances) / steps), 1));
}

/// A column for each of the places that come often, the largest by time.
void give_columns(SequencePlaces& places, KernelColumns& out) {
  std::vector<std::pair<std::uint64_t, SequencePlace*>> wanted;
  for (auto& [key, place] : places.by_key)
    if (place.instances >= kLeastInstances && place.group < out.kept)
      wanted.emplace_back(key, &place);
  std::sort(wanted.begin(), wanted.end(), [](const auto& left, const auto& right) {
    return std::tie(right.second->ns, left.first) < std::tie(left.second->ns, right.first);
  });
  wanted.resize(std::min(wanted.size(), kMostPlaces));
  for (auto& [key, place] : wanted) {
    place->column = static_cast<std::uint32_t>(out.group_of_column.size());
    out.group_of_column.push_back(place->group);
  }
  out.ns.assign(out.group_of_column.size(), 0);
}

/// Copies and sets move bytes beside kernels, which would be given them: a column for each kind, of
/// the group that nobody asks for.
void give_copies_columns(const Capture& capture, std::uint32_t device, KernelColumns& out) {
  const auto& activities = capture.activities;
  std::map<std::pair<ActivityKind, CopyKind>, std::uint32_t> known;
  for (std::uint32_t row = 0; row < activities.size(); ++row) {
    if (activities.kind[row] == ActivityKind::kernel || activities.device[row] != device ||
        activities.duration_ns[row] <= 0)
      continue;
    const auto [it, added] =
        known.try_emplace({activities.kind[row], activities.copy[row]},
                          static_cast<std::uint32_t>(out.group_of_column.size()));
    if (added) {
      out.group_of_column.push_back(out.kept);
      out.ns.push_back(0);
    }
    out.column_of[row] = it->second;
    out.ns[it->second] += static_cast<double>(activities.duration_ns[row]);
  }
}

}  // namespace

KernelColumns kernel_columns(const Capture& capture, std::uint32_t device) {
  KernelColumns out;
  KernelGroups kernels = group_kernels(capture, device);
  out.groups = std::move(kernels.groups);
  out.group_of = std::move(kernels.group_of);
  const auto rows = grouped_kernels(capture, out);
  out.kept = static_cast<std::uint32_t>(std::min(out.groups.size(), kMostGroups));
  SequencePlaces places = find_places(capture, out, rows);
  count_places(places, out);
  give_columns(places, out);
  // Places without a column of their own share one for each group.
  std::vector<std::uint32_t> rest(out.groups.size(), kNoRow);
  out.column_of.assign(capture.activities.size(), kNoRow);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& place = places.by_key[places.key_of[i]];
    auto column = place.column;
    if (column == kNoRow) {
      const auto group = std::min(place.group, out.kept);
      auto& shared = rest[std::min<std::size_t>(group, rest.size() - 1)];
      if (shared == kNoRow) {
        shared = static_cast<std::uint32_t>(out.group_of_column.size());
        out.group_of_column.push_back(group);
        out.ns.push_back(0);
      }
      column = shared;
    }
    out.column_of[rows[i]] = column;
    out.ns[column] += static_cast<double>(capture.activities.duration_ns[rows[i]]);
  }
  give_copies_columns(capture, device, out);
  return out;
}

namespace {

void order_by_time(KernelGroups& out) {
  std::vector<std::uint32_t> order(out.groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto left, auto right) {
    return out.groups[left].ns > out.groups[right].ns;
  });
  std::vector<std::uint32_t> place(order.size());
  std::vector<KernelGroup> sorted;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(out.groups[order[i]]);
  }
  out.groups = std::move(sorted);
  for (auto& group : out.group_of)
    if (group != kNoRow) group = place[group];
}

}  // namespace

KernelGroups group_kernels(const Capture& capture, std::uint32_t device) {
  using Key = std::tuple<Text, I32, I32, I32, I32, I32, I32>;
  const auto& activities = capture.activities;
  KernelGroups out;
  std::map<Key, std::uint32_t> known;
  out.group_of.assign(activities.size(), kNoRow);
  for (std::uint32_t row = 0; row < activities.size(); ++row) {
    if (activities.kind[row] != ActivityKind::kernel || activities.device[row] != device) continue;
    const auto [it, added] =
        known.try_emplace(Key{activities.name[row], activities.grid_x[row], activities.grid_y[row],
                              activities.grid_z[row], activities.block_x[row],
                              activities.block_y[row], activities.block_z[row]},
                          static_cast<std::uint32_t>(out.groups.size()));
    if (added) out.groups.push_back({row, 0, 0});
    auto& group = out.groups[it->second];
    ++group.instances;
    group.ns += activities.duration_ns[row];
    out.group_of[row] = it->second;
  }
  order_by_time(out);
  return out;
}

ClassTimes::ClassTimes(const Capture& capture, std::uint32_t device, std::size_t most_classes)
    : class_of_(capture.activities.size(), kNoRow) {
  const auto& activities = capture.activities;
  const KernelGroups kernels = group_kernels(capture, device);
  const auto timed = static_cast<std::size_t>(
      std::find_if(kernels.groups.begin(), kernels.groups.end(),
                   [](const KernelGroup& group) { return group.ns <= 0; }) -
      kernels.groups.begin());
  // The largest have a class each; what is left of the kernels shares the one before the copies'.
  const std::size_t own = std::min(timed, std::max<std::size_t>(most_classes, 3) - 2);
  classes_ = own;
  if (own < timed) ++classes_;
  const auto copies = static_cast<std::uint32_t>(classes_);
  for (std::uint32_t row = 0; row < activities.size(); ++row) {
    if (activities.device[row] != device || activities.duration_ns[row] <= 0) continue;
    auto& column = class_of_[row];
    if (activities.kind[row] == ActivityKind::kernel) {
      column = static_cast<std::uint32_t>(std::min<std::size_t>(kernels.group_of[row], own));
    } else {
      column = copies;
      classes_ = copies + 1;
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
