// Why the last rank was late: what it had more of than the rank that waited longest, since the two
// were last level. Where it had itself waited for another rank, that one is charged.
#pragma once

#include <string>
#include <vector>

#include "analyze/ranks/job_waiting.h"
#include "analyze/ranks/ranks.h"

namespace gf {

/// A part of a collective's waiting, charged to one rank and one cause.
struct Blame {
  std::uint32_t part = 0;  // the rank whose time it was
  RankTime cause = RankTime::unknown;
  std::int64_t op = -1, module = -1;  // numbers in that rank's texts, -1: none
  Nanos wait = 0;
};

struct Charge {
  std::vector<Blame> blames;  // sum to the collective's waiting exactly; the largest first
  /// Why the last rank was late; `collectives` where it had waited for another rank.
  RankTime cause = RankTime::unknown;
};

/// By shared collective; empty charges where it is not sure who was last.
std::vector<Charge> charge_waiting(const Job& job, const std::vector<WaitSplit>& splits);

}  // namespace gf
