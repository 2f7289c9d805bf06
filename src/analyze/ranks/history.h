// What a rank did before each of its collectives, and whose time that was.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyze/ranks/names.h"
#include "analyze/ranks/result.h"

namespace gf {

class RankHistory {
 public:
  using Sums = std::array<Nanos, kRankTimes>;

  explicit RankHistory(const RankPart& part);
  /// Between the starts of two collectives.
  Sums between(std::uint32_t from, std::uint32_t to) const;
  /// f(op, module, ns) for the owners of one kind of time between two collectives.
  template <class F>
  void each_owner(std::uint32_t from, std::uint32_t to, RankTime kind, F&& f) const {
    for (std::size_t i = owner_begin_[from + 1]; i < owner_begin_[to + 1]; ++i)
      if (part_.owners.part[i] == static_cast<std::int64_t>(kind))
        f(part_.owners.op[i], part_.owners.module[i], part_.owners.ns[i]);
  }

 private:
  const RankPart& part_;
  std::vector<Sums> until_;
  std::vector<std::size_t> owner_begin_;  // by collective, and one more
};

}  // namespace gf
