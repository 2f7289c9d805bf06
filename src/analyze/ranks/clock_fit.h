// The clock of one rank against another's, from the ends of the collectives that both took part in.
#pragma once

#include <vector>

#include "core/time.h"

namespace gf {

/// At `at` on the first clock the second one shows `difference` more.
struct ClockPair {
  Nanos at = 0;
  Nanos difference = 0;
};

/// difference(at) = offset + drift * (at - about).
struct ClockFit {
  Nanos offset = 0;
  double drift = 0;    // 0 where it is not clearly more than the scatter allows
  Nanos about = 0;     // where the offset holds: the middle of the pairs
  Nanos residual = 0;  // median absolute deviation
  std::size_t pairs = 0;

  Nanos at(Nanos time) const {
    return offset + static_cast<Nanos>(drift * static_cast<double>(time - about));
  }
};

/// Robust: half of the pairs may be anything. O(n log n).
ClockFit fit_clock(std::vector<ClockPair> pairs);

}  // namespace gf
