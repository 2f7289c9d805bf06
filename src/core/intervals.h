// Sets of time as sorted, disjoint, half-open intervals.
#pragma once

#include <span>
#include <vector>

#include "core/time.h"

namespace gf {

using Intervals = std::vector<Interval>;

/// Sorted, disjoint, without empty members; touching members are joined.
Intervals normalised(Intervals intervals);
/// Total length of a normalised set.
Nanos total(const Intervals& set);
/// Members of normalised sets: in a or b; in both; in a but not in b.
Intervals unite(std::span<const Interval> a, std::span<const Interval> b);
Intervals intersect(const Intervals& a, const Intervals& b);
Intervals subtract(const Intervals& a, const Intervals& b);
/// Total length of what two normalised sets share: total(intersect(a, b)) without the set.
Nanos shared_length(const Intervals& a, const Intervals& b);
/// The part of a normalised set inside `window`.
Intervals clip(const Intervals& set, Interval window);

}  // namespace gf
