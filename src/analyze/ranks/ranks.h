// Who waited for whom in a job of several ranks, and why. docs/ranks.md gives the rules.
#pragma once

#include <vector>

#include "analyze/ranks/result.h"
#include "core/error.h"

namespace gf {

struct RanksOptions {
  std::size_t max_collectives = 0;  // kept in the answer, those with most waiting; 0 = all
  unsigned workers = 1;
};

/// Pure: the same parts in any order give the same answer. Errors: parts of different jobs, one
/// rank twice, nothing at all.
Result<JobRanks> analyze_ranks(std::vector<RankPart> parts, const RanksOptions& options = {});

}  // namespace gf
