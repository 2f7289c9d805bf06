#include "core/intervals.h"

#include <algorithm>

#include "core/order.h"

namespace gf {

Intervals normalised(Intervals in) {
  std::erase_if(in, [](const Interval& i) { return i.end <= i.start; });
  sort_nearly_ordered(in.begin(), in.end(), [](const Interval& a, const Interval& b) {
    return a.start != b.start ? a.start < b.start : a.end < b.end;
  });
  std::size_t kept = 0;
  for (const auto& i : in) {
    if (kept > 0 && i.start <= in[kept - 1].end)
      in[kept - 1].end = std::max(in[kept - 1].end, i.end);
    else
      in[kept++] = i;
  }
  in.resize(kept);
  return in;
}

Nanos total(const Intervals& set) {
  Nanos sum = 0;
  for (const auto& i : set) sum += i.length();
  return sum;
}

Intervals unite(std::span<const Interval> a, std::span<const Interval> b) {
  Intervals all;
  all.reserve(a.size() + b.size());
  for (auto i = a.begin(), j = b.begin(); i != a.end() || j != b.end();) {
    const Interval next = j == b.end() || (i != a.end() && i->start < j->start) ? *i++ : *j++;
    if (!all.empty() && next.start <= all.back().end)
      all.back().end = std::max(all.back().end, next.end);
    else
      all.push_back(next);
  }
  return all;
}

namespace {

/// f(interval) for every stretch that both sets have, in order. What ends before the other set
/// begins is skipped by search.
template <class F>
void each_shared(const Intervals& a, const Intervals& b, F&& f) {
  if (a.empty() || b.empty()) return;
  auto from = [](const Intervals& set, Nanos start) {
    return std::partition_point(set.begin(), set.end(),
                                [start](const Interval& i) { return i.end <= start; });
  };
  for (auto i = from(a, b.front().start), j = from(b, a.front().start);
       i != a.end() && j != b.end();) {
    const Interval both{std::max(i->start, j->start), std::min(i->end, j->end)};
    if (both.start < both.end) f(both);
    (i->end < j->end ? i : j)++;
  }
}

}  // namespace

Intervals intersect(const Intervals& a, const Intervals& b) {
  Intervals out;
  each_shared(a, b, [&](const Interval& both) { out.push_back(both); });
  return out;
}

Nanos shared_length(const Intervals& a, const Intervals& b) {
  Nanos sum = 0;
  each_shared(a, b, [&](const Interval& both) { sum += both.length(); });
  return sum;
}

Intervals subtract(const Intervals& a, const Intervals& b) {
  Intervals out;
  auto j = b.begin();
  for (auto i : a) {
    while (j != b.end() && j->end <= i.start) ++j;
    for (auto k = j; k != b.end() && k->start < i.end; ++k) {
      if (k->start > i.start) out.push_back({i.start, k->start});
      i.start = std::max(i.start, k->end);
      if (i.start >= i.end) break;
    }
    if (i.start < i.end) out.push_back(i);
  }
  return out;
}

Intervals clip(const Intervals& set, Interval window) {
  if (window.length() <= 0) return {};
  return intersect(set, {window});
}

}  // namespace gf
