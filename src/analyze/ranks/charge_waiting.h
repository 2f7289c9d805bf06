// Why the last rank was late: what it had more of than the rank that waited longest, since the two
// were last level.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analyze/ranks/job.h"
#include "analyze/ranks/split_waiting.h"

namespace gf {

struct Charge {
  std::array<Nanos, kRankTimes> wait{};  // the collective's waiting by cause; sums to it exactly
  RankTime cause = RankTime::unknown;    // the largest
  std::int64_t op = -1, module = -1;     // numbers in the last rank's texts, -1: none
};

/// By shared collective; empty charges where it is not sure who was last.
std::vector<Charge> charge_waiting(const Job& job, const std::vector<WaitSplit>& splits);

}  // namespace gf
