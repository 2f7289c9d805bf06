// The parts of the answer, each from the job as it was worked out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/ranks/job_graph.h"
#include "analyze/ranks/job_waiting.h"
#include "analyze/ranks/ranks.h"
#include "analyze/ranks/stages.h"

namespace gf {

/// Recording slows the hosts of ranks that do the same by different amounts: so much faster a
/// rank's host may be without it.
constexpr double kRecordingApart = 0.25;

// Gains of the job if one rank were as its peers, a link as its like, or the missing ranks in
// time: the job's time less its time when it runs again with that changed.

struct RankGains {
  Nanos all = 0;
  Nanos kernels = 0, host = 0, input = 0;  // each changed alone
  Nanos host_in_doubt = 0;  // what its recording may explain, which `host` then leaves out
  std::optional<double> same_kernels;  // time of those that its peers run too, over their peers'
};

struct LinkGain {
  std::uint32_t group = 0;   // number in Job::groups
  std::uint32_t shared = 0;  // one of its collectives
  std::int64_t collectives = 0;
  Nanos transfer = 0, others = 0;  // medians
  Nanos gain = 0;
};

struct JobGains {
  Nanos span = 0;                    // of the job when it runs again as it was
  std::vector<RankGains> ranks;      // by part
  std::vector<std::uint32_t> joint;  // parts with more of their own than their peers, most first
  Nanos joint_gain = 0;              // were all of these as their peers
  std::vector<LinkGain> links;       // most first
  Nanos missing = 0;                 // at most, were the ranks without a file never late
};

JobGains gains_of(const Job& job, const JobGraph& graph, unsigned workers);

// The reason why the last rank was late: what it had more of than the rank that waited longest,
// since the two were last level. Where it had itself waited for another rank, that one is charged.

/// A part of a collective's waiting, charged to one rank and one cause.
struct Blame {
  std::uint32_t part = 0;  // the rank whose time it was
  RankTime cause = RankTime::unknown;
  std::int64_t op = -1, module = -1;  // numbers in that rank's texts, -1: none
  Nanos wait = 0;
};

struct Charge {
  std::vector<Blame> blames;  // sum to the collective's waiting exactly; the largest first
  /// The reason why the last rank was late; `collectives` where it had waited for another rank.
  RankTime cause = RankTime::unknown;
};

/// By shared collective; empty charges where it is not sure who was last.
std::vector<Charge> charge_waiting(const Job& job, const std::vector<WaitSplit>& splits);

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
/// The same as far as the waiting: without charges and gains, which cost most of the time.
Result<WorkedJob> pair_up(std::vector<RankPart> parts, unsigned workers);
Result<WorkedJob> work_out(RankStage stage, unsigned workers);
JobRanks answer_of(const JobView& view, const RanksOptions& options);

/// The waiting of the kernels of one of the job's captures; `job` of it is left empty. Nothing
/// where it shares no collective with the others. `devices` and `window` are those that the job's
/// parts were measured with. Errors as measure_ranks().
Result<std::optional<JobWaiting>> waiting_in(const WorkedJob& worked, const Capture& capture,
                                             std::string_view devices, std::string_view window);

}  // namespace gf
