// The parts of the answer, each from the job as it was worked out.
#pragma once

#include <vector>

#include "analyze/ranks/charge_waiting.h"
#include "analyze/ranks/job.h"
#include "analyze/ranks/split_waiting.h"

namespace gf {

struct JobView {
  const Job& job;
  const std::vector<WaitSplit>& splits;
  const std::vector<Charge>& charges;
};

std::vector<RankUse> rank_uses(const JobView& view);
std::vector<GroupUse> group_uses(const JobView& view);
std::vector<Straggler> stragglers(const JobView& view);
/// `late`: what stragglers() gave. Empty where the captures have no marked steps in common.
std::vector<FallingBehind> falling_behind(const JobView& view, const std::vector<Straggler>& late);
std::vector<RankStep> rank_steps(const JobView& view);
std::vector<CollectiveRate> collective_rates(const JobView& view);
std::vector<PathPiece> critical_path(const JobView& view);
/// Those with most waiting, at most `rows` (0: all), by time.
std::vector<CollectiveRow> collective_rows(const JobView& view, std::size_t rows);

}  // namespace gf
