#include "core/intervals.h"

#include <algorithm>

#include "core/assert.h"
#include "core/order.h"

namespace gf {

Intervals normalised(Intervals in) {
  std::erase_if(in, [](const Interval& i) { return i.end <= i.start; });
  sort_nearly_ordered(in.begin(), in.end(), [](const Interval& left, const Interval& right) {
    return left.start != right.start ? left.start < right.start : left.end < right.end;
  });
  std::size_t kept = 0;
  for (const auto& interval : in) {
    if (kept > 0 && interval.start <= in[kept - 1].end)
      in[kept - 1].end = std::max(in[kept - 1].end, interval.end);
    else
      in[kept++] = interval;
  }
  in.resize(kept);
  return in;
}

Nanos total(const Intervals& set) {
  Nanos sum = 0;
  for (const auto& interval : set) sum += interval.length();
  return sum;
}

const Interval* member_at(const Intervals& set, Nanos time) {
  const auto after = std::upper_bound(set.begin(), set.end(), time,
                                      [](Nanos at, const Interval& one) { return at < one.start; });
  if (after == set.begin() || time >= (after - 1)->end) return nullptr;
  return &*(after - 1);
}

bool holds(const Intervals& set, Interval span) {
  const Interval* member = member_at(set, span.start);
  return member && span.end <= member->end;
}

namespace {

/// Sorted and disjoint; of a long set its beginning is looked at.
[[maybe_unused]] bool is_ordered(std::span<const Interval> set) {
  for (std::size_t i = 0; i < std::min<std::size_t>(set.size(), 1000); ++i) {
    if (set[i].start > set[i].end) return false;
    if (i > 0 && set[i - 1].end > set[i].start) return false;
  }
  return true;
}

/// Without empty members, too.
[[maybe_unused]] bool is_normalised(std::span<const Interval> set) {
  const auto beginning = set.first(std::min<std::size_t>(set.size(), 1000));
  return is_ordered(set) && std::all_of(beginning.begin(), beginning.end(),
                                        [](const auto& each) { return each.start < each.end; });
}

}  // namespace

Intervals unite(std::span<const Interval> left, std::span<const Interval> right) {
  GF_ASSERT(is_normalised(left) && is_normalised(right));
  Intervals all;
  all.reserve(left.size() + right.size());
  for (auto i = left.begin(), j = right.begin(); i != left.end() || j != right.end();) {
    extend(all, j == right.end() || (i != left.end() && i->start < j->start) ? *i++ : *j++);
  }
  return all;
}

namespace {

/// f(interval) for every stretch that both sets have, in order. What ends before the other set
/// begins is skipped by search.
template <class F>
void each_shared(const Intervals& left, const Intervals& right, F&& apply) {
  // A step or a window that is given as it is may be empty: it shares nothing.
  GF_ASSERT(is_ordered(left) && is_ordered(right));
  if (left.empty() || right.empty()) return;
  auto from = [](const Intervals& set, Nanos start) {
    return std::partition_point(set.begin(), set.end(),
                                [start](const Interval& i) { return i.end <= start; });
  };
  for (auto i = from(left, right.front().start), j = from(right, left.front().start);
       i != left.end() && j != right.end();) {
    const Interval both{std::max(i->start, j->start), std::min(i->end, j->end)};
    if (both.start < both.end) apply(both);
    (i->end < j->end ? i : j)++;
  }
}

}  // namespace

Intervals intersect(const Intervals& left, const Intervals& right) {
  Intervals out;
  each_shared(left, right, [&](const Interval& both) { out.push_back(both); });
  return out;
}

Nanos shared_length(const Intervals& left, const Intervals& right) {
  Nanos sum = 0;
  each_shared(left, right, [&](const Interval& both) { sum += both.length(); });
  return sum;
}

Intervals subtract(const Intervals& left, const Intervals& right) {
  GF_ASSERT(is_normalised(left) && is_normalised(right));
  Intervals out;
  auto hole = right.begin();
  for (auto interval : left) {
    while (hole != right.end() && hole->end <= interval.start) ++hole;
    for (auto cut = hole; cut != right.end() && cut->start < interval.end; ++cut) {
      if (cut->start > interval.start) out.push_back({interval.start, cut->start});
      interval.start = std::max(interval.start, cut->end);
      if (interval.start >= interval.end) break;
    }
    if (interval.start < interval.end) out.push_back(interval);
  }
  return out;
}

namespace {

/// The part of a span that members from `at` on cover; those before end before it begins.
Nanos covered_from(Intervals::const_iterator at, Intervals::const_iterator end, Interval span) {
  Nanos sum = 0;
  for (; at != end && at->start < span.end; ++at)
    sum += std::min(at->end, span.end) - std::max(at->start, span.start);
  return sum;
}

}  // namespace

Nanos covered(const Intervals& set, Interval span) {
  const auto at = std::partition_point(
      set.begin(), set.end(), [&](const Interval& interval) { return interval.end <= span.start; });
  return covered_from(at, set.end(), span);
}

void CoveredInOrder::go_to(Nanos start) {
  const auto is_before = [&](const Interval& member) { return member.end <= start; };
  if (at_ > 0 && !is_before((*set_)[at_ - 1])) at_ = 0;
  // In steps that double: what lies far costs a search, what lies near a look.
  auto at = set_->begin() + static_cast<std::ptrdiff_t>(at_);
  auto last = at;
  for (std::ptrdiff_t step = 1; last != set_->end() && is_before(*last); step *= 2) {
    at = last + 1;
    last += std::min(step, set_->end() - last);
  }
  at = std::partition_point(at, last, is_before);
  at_ = static_cast<std::size_t>(at - set_->begin());
}

Nanos CoveredInOrder::operator()(Interval span) {
  go_to(span.start);
  return covered_from(set_->begin() + static_cast<std::ptrdiff_t>(at_), set_->end(), span);
}

Intervals clip(const Intervals& set, Interval window) {
  Intervals out;
  each_in(set, window, [&](const Interval& part) { out.push_back(part); });
  return out;
}

}  // namespace gf
