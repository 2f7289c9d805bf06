// The clock of one rank against another's, from the ends of the collectives that both took part in.
// Pairs the collectives of two ranks by their ends: no rank leaves a collective
// before all have arrived, so the ends agree on a common clock, and the clocks differ by an offset
// and little drift.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/ranks/names.h"
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

/// A collective as far as it tells what it is.
struct Signature {
  CollectiveType type = CollectiveType::other;
  std::int64_t bytes = -1;
  std::size_t kernel = 0;  // hash of the kernel's name
  bool operator==(const Signature&) const = default;
};
bool compatible(const Signature& left, const Signature& right);

/// A rank's collectives in a group, in order of time.
struct Lane {
  std::vector<Nanos> end;  // from the rank's own zero
  std::vector<Signature> what;
  std::vector<std::int64_t> number;  // in the group, -1: not recorded
};

struct Alignment {
  std::vector<std::int64_t> partner;  // by collective of the first lane: that of the other, or -1
  ClockFit clock;                     // of the other lane against the first
  std::size_t pairs = 0;
  bool by_order = false;  // both lanes hold the same collectives in the same order, and the ends
                          // agree
  bool doubtful = false;  // another offset fits nearly as well
};

/// Pairs where the ends agree, all others -1. `near` is the offset to prefer among equals.
Alignment align(const Lane& first, const Lane& other, Nanos near);

}  // namespace gf
