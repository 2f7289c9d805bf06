// What the others could have made of a rank's delay, had it not been: no device starts what its own
// host has not launched.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/ranks/answer.h"

namespace gf {

/// The gain at one shared collective that is charged to a rank.
struct ChargedGain {
  std::uint32_t number = 0;  // of the shared collective
  Nanos gain = 0;
};

/// Most that any other rank gains by the end, when each keeps of what it gained before only as much
/// as its launches lay ahead. `gains` by number. O(arrivals of all collectives).
Nanos gain_within_launches(const JobView& view, std::uint32_t part,
                           const std::vector<ChargedGain>& gains);

}  // namespace gf
