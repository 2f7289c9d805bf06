// Sets of time as sorted, disjoint, half-open intervals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/time.h"

namespace gf {

using Intervals = std::vector<Interval>;

/// The time of a row of a table; empty where its length is not known.
template <class Table>
Interval span_of(const Table& table, std::size_t row) {
  return {table.start_ns[row], table.start_ns[row] + std::max<Nanos>(0, table.duration_ns[row])};
}

/// Sorted, disjoint, without empty members; touching members are joined.
Intervals normalised(Intervals intervals);
/// Adds a span that begins no earlier than those before it to their union.
inline void extend(Intervals& set, Interval span) {
  if (span.length() <= 0) return;
  if (!set.empty() && span.start <= set.back().end)
    set.back().end = std::max(set.back().end, span.end);
  else
    set.push_back(span);
}
/// Total length of a normalized set.
Nanos total(const Intervals& set);
/// The member of a normalized set that holds this instant; none when it lies outside.
const Interval* member_at(const Intervals& set, Nanos time);
/// True if one member of a normalized set holds all of a span that is not empty.
bool holds(const Intervals& set, Interval span);
/// Members of normalized sets: in one or the other; in both; in left but not in right.
Intervals unite(std::span<const Interval> left, std::span<const Interval> right);
Intervals intersect(const Intervals& left, const Intervals& right);
Intervals subtract(const Intervals& left, const Intervals& right);
/// Total length of what two normalized sets share: total(intersect(left, right)) without the set.
Nanos shared_length(const Intervals& left, const Intervals& right);
/// The length of a span that a normalized set covers. O(log n + members that touch the span).
Nanos covered(const Intervals& set, Interval span);
/// covered() of many spans, quick where each lies close behind the one before. Keeps the set's
/// place: of the set it was made of, which stays.
class CoveredInOrder {
 public:
  explicit CoveredInOrder(const Intervals& set) : set_(&set) {}
  Nanos operator()(Interval span);
  /// True if it covers any of a span that is not empty.
  bool touches(Interval span) {
    if ((at_ > 0 && (*set_)[at_ - 1].end > span.start) ||
        (at_ < set_->size() && (*set_)[at_].end <= span.start))
      go_to(span.start);
    return at_ < set_->size() && (*set_)[at_].start < span.end;
  }

 private:
  void go_to(Nanos start);
  const Intervals* set_;
  std::size_t at_ = 0;  // members before it end before the last span begins
};
/// The part of a normalized set inside `window`.
Intervals clip(const Intervals& set, Interval window);
/// Its members, f(interval) for each in order, without a set of them.
template <class F>
void each_in(const Intervals& set, Interval window, F&& apply) {
  auto at = std::partition_point(set.begin(), set.end(),
                                 [&](const Interval& one) { return one.end <= window.start; });
  for (; at != set.end() && at->start < window.end; ++at) {
    const Interval both{std::max(at->start, window.start), std::min(at->end, window.end)};
    if (both.start < both.end) apply(both);
  }
}

}  // namespace gf
