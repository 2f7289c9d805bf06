// Idle causes: every idle nanosecond gets one label, by what the host did. docs/idle.md
// gives the rules as a table.
#pragma once

#include <optional>
#include <vector>

#include "analyze/context.h"
#include "analyze/idle/idle_rules.h"
#include "analyze/result.h"

namespace gf {

/// The idle time of one device by reason: in order of time, and summed.
struct DeviceIdle {
  std::vector<IdlePiece> pieces;
  std::vector<IdleCause> causes;
};

/// One for each of context.devices. `facts`: of its calls. Needs the host threads, the timelines
/// and the attribution (operators and modules are left out when it has none).
std::vector<DeviceIdle> explain_idle(const Context& context, LaunchFacts facts);

/// Gaps that hardware does not make are no advice but a doubt about the data; empty without any.
std::optional<QualityNote> unexplained_gaps(const std::vector<DeviceIdle>& idle);

/// Operators and modules behind each idle cause: at most `most` of each (0: all), the last one
/// "(n others)", so that the list sums to what it summed to.
std::vector<DeviceUse> with_short_idle_lists(std::vector<DeviceUse> devices, std::size_t most);

}  // namespace gf
