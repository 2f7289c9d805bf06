// Waiting of one capture's kernels for the other ranks of its job, by the captures
// of these.
// Each collective's duration on each rank as waiting for the last arrival and transfer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyze/ranks/ranks.h"
#include "model/capture.h"

namespace gf {

/// A kernel that began in a collective before another rank did.
struct KernelWait {
  std::uint32_t activity = 0;  // row of capture.activities
  Nanos ns = 0;                // from its start; above what the clocks leave in doubt
  std::int64_t rank = 0;       // that it waited for: the last that came before it left
};

struct JobWaiting {
  std::vector<KernelWait> kernels;  // by activity
  JobRanks job;                     // what `ranks` says of all of them

  /// nullptr for a kernel that did not wait, or of which that is not known.
  const KernelWait* of(std::uint32_t activity) const {
    const auto at = std::ranges::lower_bound(kernels, activity, {}, &KernelWait::activity);
    return at == kernels.end() || at->activity != activity ? nullptr : &*at;
  }
};

/// `peers`: the other ranks; a part of the capture itself among them is left out. A capture that
/// holds several ranks needs none. Errors as analyze_ranks(), and a
/// rank that is alone, or that shares no collective with them.
Result<JobWaiting> find_job_waiting(const Capture& capture, std::vector<RankPart> peers,
                                    unsigned workers = 1);

struct WaitSplit {
  struct One {
    Nanos start = 0, duration = 0;  // on the common clock
    Nanos wait = 0;                 // the rest is transfer
    Nanos exposed = 0;
    /// Waiting beside which nothing computed.
    Nanos exposed_wait() const { return wait < exposed ? wait : exposed; }
  };
  std::vector<One> ranks;  // as the collective's arrivals
  std::size_t last = 0;    // place of the last arrival
  std::size_t waited_most = 0;
  std::size_t second = 0;  // place of the second to last
  Nanos margin = 0, doubt = 0, wait = 0;
  bool whole = false;  // every rank of the group is there
  bool sure() const { return margin > doubt; }
};

/// By shared collective. A rank waits for the last of those that arrived before it left; where all
/// leave together, as in all that synchronize, that is the last of all.
std::vector<WaitSplit> split_waiting(const Job& job);

}  // namespace gf
