// Exact time shares: every nanosecond of a span gets one phase.
#pragma once

#include <array>
#include <vector>

#include "analyze/runtime/result.h"
#include "analyze/runtime/trace.h"

namespace gf {

struct PhaseSets {
  Interval window;
  std::array<Intervals, kRuntimePhases> present;  // where the phase holds at all; `other` is empty
  std::array<Intervals, kRuntimePhases> label;    // disjoint, together the window
};

/// Phases of all threads and devices in `window`, labelled by precedence (phases.h).
PhaseSets label_phases(const Context& context, const RuntimeTrace& trace, Interval window);
/// The labels' precedence applied to sets that are there already.
void label_by_precedence(PhaseSets& sets);

/// Shares of the labels inside `within` (a normalised subset of the window). `items`, when positive, gives the times per item.
std::vector<PhaseTime> phase_times(const PhaseSets& sets, const Intervals& within, std::int64_t items = 0);
KernelShares kernel_shares(const PhaseSets& sets, std::int64_t items);

}  // namespace gf
