// How long the kernels of one capture waited for the other ranks of its job, told by the captures
// of these.
#pragma once

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
  const KernelWait* of(std::uint32_t activity) const;
};

/// `peers`: the other ranks; a part of the capture itself among them is left out. A capture that
/// holds several ranks needs none. Errors as analyze_ranks(), and a
/// rank that is alone, or that shares no collective with them.
Result<JobWaiting> find_job_waiting(const Capture& capture, std::vector<RankPart> peers,
                                    unsigned workers = 1);

}  // namespace gf
