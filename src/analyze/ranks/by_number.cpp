#include "analyze/ranks/by_number.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "analyze/ranks/collective_type.h"

namespace gf {

namespace {

constexpr std::int64_t kTwice = -2;

/// Place of each number that comes once.
std::unordered_map<std::int64_t, std::int64_t> places(const Lane& lane) {
  std::unordered_map<std::int64_t, std::int64_t> place;
  for (std::size_t i = 0; i < lane.number.size(); ++i) {
    if (lane.number[i] < 0) continue;
    const auto [at, added] = place.try_emplace(lane.number[i], static_cast<std::int64_t>(i));
    if (!added) at->second = kTwice;
  }
  return place;
}

bool all_numbered(const Lane& lane) {
  return std::none_of(lane.number.begin(), lane.number.end(),
                      [](std::int64_t number) { return number < 0; });
}

}  // namespace

std::vector<std::int64_t> pairs_by_number(const Lane& first, const Lane& other) {
  for (const auto& what : first.what)
    if (point_to_point(what.type)) return {};
  const auto of_first = places(first), of_other = places(other);
  std::vector<std::int64_t> partner(first.end.size(), -1);
  std::size_t pairs = 0, conflicts = 0;
  for (const auto& [number, place] : of_first) {
    const auto found = of_other.find(number);
    if (place < 0 || found == of_other.end() || found->second < 0) continue;
    const auto i = static_cast<std::size_t>(place), j = static_cast<std::size_t>(found->second);
    if (compatible(first.what[i], other.what[j])) {
      partner[i] = found->second;
      ++pairs;
    } else {
      ++conflicts;
    }
  }
  // Where the rest is found by time, the clock has to be known from these.
  constexpr std::size_t kFewest = 3, kPairsToAConflict = 20;
  const bool whole = all_numbered(first) && all_numbered(other);
  if (pairs == 0 || (!whole && pairs < kFewest)) return {};
  if (kPairsToAConflict * conflicts > pairs) return {};
  return partner;
}

void pair_unnumbered(const Lane& first, const Lane& other, const ClockFit& clock,
                     std::vector<std::int64_t>& partner) {
  std::vector<bool> used(other.end.size(), false);
  for (const auto place : partner)
    if (place >= 0) used[static_cast<std::size_t>(place)] = true;
  constexpr Nanos kNear = 60 * kNsPerUs;
  const Nanos tolerance = std::max(kNear, 8 * clock.residual);
  for (std::size_t i = 0; i < first.end.size(); ++i) {
    if (partner[i] >= 0) continue;
    const Nanos expected = first.end[i] + clock.at(first.end[i]);
    Nanos best = tolerance + 1;
    const auto from = std::lower_bound(other.end.begin(), other.end.end(), expected - tolerance);
    for (auto j = static_cast<std::size_t>(from - other.end.begin());
         j < other.end.size() && other.end[j] <= expected + tolerance; ++j) {
      const bool both = first.number[i] >= 0 && other.number[j] >= 0;
      const Nanos distance = std::abs(other.end[j] - expected);
      if (both || used[j] || distance >= best) continue;
      if (!compatible(first.what[i], other.what[j])) continue;
      best = distance;
      partner[i] = static_cast<std::int64_t>(j);
    }
    if (partner[i] >= 0) used[static_cast<std::size_t>(partner[i])] = true;
  }
}

}  // namespace gf
