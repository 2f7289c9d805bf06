// SM fill of launches, by their shapes and the chip's limits: estimates where no counter
// tells (docs/ladder.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/context.h"
#include "analyze/result.h"
#include "model/chips.h"

namespace gf {

/// One launch. The low bounds hold where all blocks take equally long, so that the last, partial
/// wave takes as long as a full one; the high ones where the last wave costs nothing.
struct SmFill {
  double waves = 0;            // thread blocks over those that the device holds at once
  double occupancy_limit = 0;  // warps that an SM can hold of this kernel, of all that it can hold
  double sm_active_low = 0, sm_active_high = 0;
  double occupancy_low = 0, occupancy_high = 0;
};

/// Empty where the launch's shape or a limit of its device is not known, and for other makers'
/// GPUs.
std::optional<SmFill> sm_fill(const Capture& capture, const Chip* chip, std::uint32_t activity);

/// SM active and achieved occupancy of all devices and of each, where the analysis has no value for
/// them. Of many kernels a few thousand are looked at, drawn evenly: the cost does not grow with
/// the capture.
struct EstimatedLevels {
  std::vector<Level> all;
  std::vector<std::vector<Level>> devices;
};
EstimatedLevels levels_by_launches(const Context& context, const Chip* chip,
                                   const Analysis& analysis);
void put(EstimatedLevels levels, Analysis& analysis);

}  // namespace gf
