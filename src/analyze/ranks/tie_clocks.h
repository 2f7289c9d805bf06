// One clock for all ranks, from the clocks of pairs.
#pragma once

#include <vector>

#include "analyze/ranks/job.h"

namespace gf {

/// The clock of `other` against that of `first`, both from their parts' starts.
struct ClockEdge {
  std::uint32_t first = 0, other = 0;
  ClockFit fit;
};

/// Fills job.clocks: every rank that is tied to the first one, directly or through others, by the
/// ties of least residual.
void tie_clocks(Job& job, std::vector<ClockEdge> edges);

/// Ranks that share groups and no collective that fits: files of different runs.
Status all_of_one_run(Job& job);

}  // namespace gf
