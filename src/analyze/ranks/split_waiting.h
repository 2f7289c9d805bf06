// Each collective's duration on each rank as waiting for the last arrival and transfer.
#pragma once

#include <vector>

#include "analyze/ranks/job.h"

namespace gf {

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
/// leave together, as in all that synchronise, that is the last of all.
std::vector<WaitSplit> split_waiting(const Job& job);

}  // namespace gf
