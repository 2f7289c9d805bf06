// What the job would gain were one rank as its peers, a link as its like, or the missing ranks in
// time: the job's time less its time when it runs again with that changed.
#pragma once

#include <vector>

#include "analyze/ranks/job_graph.h"

namespace gf {

struct RankGains {
  Nanos all = 0;
  Nanos kernels = 0, host = 0, input = 0;  // each changed alone
  Nanos host_in_doubt = 0;  // what its recording may explain, which `host` then leaves out
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

}  // namespace gf
