#include "analyze/ranks/peers.h"

#include <algorithm>

#include "core/statistics.h"

namespace gf {

Nanos median_of(const std::vector<Nanos>& values) {
  return static_cast<Nanos>(median(std::vector<double>(values.begin(), values.end())));
}

Peers::Peers(std::vector<Value> values, std::size_t nodes) : usual_(nodes, kNone) {
  std::ranges::sort(values);
  for (auto at = values.begin(); at != values.end();) {
    std::vector<std::span<const Value>> ranks;
    const auto name = at->name;
    while (at != values.end() && at->name == name) {
      const auto from = at;
      while (at != values.end() && at->name == name && at->part == from->part) ++at;
      ranks.push_back({from, at});
    }
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) learn(ranks, rank);
  }
}

void Peers::learn(const std::vector<std::span<const Value>>& ranks, std::size_t rank) {
  constexpr std::size_t kAsked = 8;  // peers, of which the median counts
  if (ranks.size() < 2) return;
  const auto own = ranks[rank];
  const std::size_t others = std::min(kAsked, ranks.size() - 1);
  std::vector<Nanos> times(others);
  for (std::size_t i = 0; i < own.size(); ++i) {
    for (std::size_t other = 0; other < others; ++other) {
      const auto& theirs = ranks[(rank + 1 + other * (ranks.size() - 1) / others) % ranks.size()];
      times[other] = theirs[(2 * i + 1) * theirs.size() / (2 * own.size())].time;
    }
    usual_[own[i].node] = std::min(own[i].time, median_of(times));
  }
}

}  // namespace gf
