// The parts of the answer, each from the job as it was worked out.
#pragma once

#include <optional>
#include <vector>

#include "analyze/ranks/charge_waiting.h"
#include "analyze/ranks/counterfactual.h"
#include "analyze/ranks/job_waiting.h"
#include "analyze/ranks/ranks.h"

namespace gf {

/// A job as it was worked out.
struct JobView {
  const Job& job;
  const std::vector<WaitSplit>& splits;
  const std::vector<Charge>& charges;
  const JobGains* gains = nullptr;  // where the ranks' parts have graphs
};

std::vector<RankUse> rank_uses(const JobView& view);
std::vector<GroupUse> group_uses(const JobView& view);
std::vector<Straggler> stragglers(const JobView& view);
/// `late`: what stragglers() gave. Empty where the captures have no marked steps in common.
std::vector<FallingBehind> falling_behind(const JobView& view, const std::vector<Straggler>& late);
std::vector<SlowLink> slow_links(const JobView& view);
PipelineUse pipeline_of(const JobView& view, const std::vector<RankUse>& ranks);
std::vector<RankStep> rank_steps(const JobView& view);
std::vector<CollectiveRate> collective_rates(const JobView& view);
std::vector<PathPiece> critical_path(const JobView& view);
/// Those with most waiting, at most `rows` (0: all), by time.
std::vector<CollectiveRow> collective_rows(const JobView& view, std::size_t rows);

struct WorkedJob {
  Job job;
  std::vector<WaitSplit> splits;
  std::vector<Charge> charges;
  std::optional<JobGains> gains;
  JobView view() const { return {job, splits, charges, gains ? &*gains : nullptr}; }
};
/// Errors as analyze_ranks().
Result<WorkedJob> work_out(std::vector<RankPart> parts, unsigned workers);
JobRanks answer_of(const JobView& view, const RanksOptions& options);

}  // namespace gf
