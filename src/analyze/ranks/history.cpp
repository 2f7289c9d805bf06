#include "analyze/ranks/history.h"

namespace gf {

RankHistory::RankHistory(const RankPart& part) : part_(part) {
  const std::size_t rows = part.collectives.start_ns.size();
  until_.resize(rows);
  const auto& before = part.before;
  for (std::size_t i = 0; i < before.ns.size(); ++i)
    until_[static_cast<std::size_t>(before.collective[i])]
          [static_cast<std::size_t>(before.part[i])] += before.ns[i];
  for (std::size_t row = 1; row < rows; ++row)
    for (std::size_t i = 0; i < kRankTimes; ++i) until_[row][i] += until_[row - 1][i];
  const auto& owners = part.owners.collective;
  for (std::size_t i = 0, row = 0; row <= rows; ++row) {
    while (i < owners.size() && owners[i] < static_cast<std::int64_t>(row)) ++i;
    owner_begin_.push_back(i);
  }
}

RankHistory::Sums RankHistory::between(std::uint32_t from, std::uint32_t to) const {
  Sums sums = until_[to];
  for (std::size_t i = 0; i < kRankTimes; ++i) sums[i] -= until_[from][i];
  return sums;
}

}  // namespace gf
