// Sets of time against sets of single instants.
#include "core/intervals.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bitset>

namespace gf {
namespace {

constexpr Nanos kEnd = 64;
using Instants = std::bitset<kEnd>;

Interval random_span() {
  const Nanos start = *rc::gen::inRange<Nanos>(0, kEnd);
  return {start, start + *rc::gen::inRange<Nanos>(0, std::min<Nanos>(12, kEnd + 1 - start))};
}

Intervals random_spans() {
  Intervals spans;
  for (int left = *rc::gen::inRange(0, 12); left > 0; --left) spans.push_back(random_span());
  return spans;
}

Instants instants_of(const Intervals& spans) {
  Instants instants;
  for (const auto& span : spans)
    for (Nanos at = span.start; at < span.end; ++at) instants.set(static_cast<std::size_t>(at));
  return instants;
}

bool is_normalised(const Intervals& set) {
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i].length() <= 0 || (i > 0 && set[i].start <= set[i - 1].end)) return false;
  return true;
}

RC_GTEST_PROP(Intervals, AreSetsOfInstants, ()) {
  const Intervals spans = random_spans();
  const Intervals left = normalised(spans);
  const Intervals right = normalised(random_spans());
  const Instants mine = instants_of(left);
  const Instants theirs = instants_of(right);
  RC_ASSERT(is_normalised(left));
  RC_ASSERT(mine == instants_of(spans));
  RC_ASSERT(total(left) == static_cast<Nanos>(mine.count()));
  RC_ASSERT(is_normalised(unite(left, right)));
  RC_ASSERT(instants_of(unite(left, right)) == (mine | theirs));
  RC_ASSERT(instants_of(intersect(left, right)) == (mine & theirs));
  RC_ASSERT(shared_length(left, right) == static_cast<Nanos>((mine & theirs).count()));
  RC_ASSERT(instants_of(subtract(left, right)) == (mine & ~theirs));
  const Interval window = random_span();
  RC_ASSERT(instants_of(clip(left, window)) == (mine & instants_of({window})));
}

RC_GTEST_PROP(Intervals, AreCoveredAlikeInAnyOrder, ()) {
  const Intervals set = normalised(random_spans());
  CoveredInOrder in_order(set);
  for (int left = *rc::gen::inRange(0, 20); left > 0; --left) {
    const Interval span = random_span();
    const bool touches = covered(set, span) > 0;
    if (span.length() > 0 && left % 2 == 0) RC_ASSERT(in_order.touches(span) == touches);
    RC_ASSERT(in_order(span) == covered(set, span));
    if (span.length() > 0) RC_ASSERT(in_order.touches(span) == touches);
  }
}

RC_GTEST_PROP(Intervals, MembersAreFoundByTimeAndSpan, ()) {
  const Intervals set = normalised(random_spans());
  const Instants instants = instants_of(set);
  for (Nanos at = -1; at <= kEnd; ++at) {
    const Interval* member = member_at(set, at);
    const bool inside = at >= 0 && at < kEnd && instants.test(static_cast<std::size_t>(at));
    RC_ASSERT((member != nullptr) == inside);
    if (member) RC_ASSERT(member->start <= at && at < member->end);
  }
  const Interval span = random_span();
  if (span.length() > 0) RC_ASSERT(holds(set, span) == (instants_of({span}) & ~instants).none());
}

}  // namespace
}  // namespace gf
