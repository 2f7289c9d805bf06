// Exact time shares: every nanosecond of a span gets one phase.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analyze/result.h"
#include "analyze/runtime/trace.h"
#include "core/column.h"

namespace gf {

/// A set of phases: bit p stands for phase p; none of them is `other`.
using PhaseMask = std::uint8_t;
inline constexpr std::size_t kPhaseMasks = std::size_t{1} << index_of(RuntimePhase::other);

/// Time by set of phases: all that the shares of a span need.
using PhaseSums = std::array<Nanos, kPhaseMasks>;

/// The phases at every instant of a window: phases[i] for length_ns[i], one piece after the
/// other without a gap.
struct PhaseTimeline {
  struct Before {
    Nanos start_ns = 0;  // of the piece
    PhaseSums sums{};    // from the window's start to there
  };
  Interval window;
  Column<Nanos> length_ns;
  Column<PhaseMask> phases;
  std::vector<Before> before;  // of every so many pieces
};

/// When each phase holds: several sorted, disjoint sets for one phase may overlap each other.
using PhaseSets = std::array<std::vector<std::span<const Interval>>, index_of(RuntimePhase::other)>;
PhaseTimeline overlay(const PhaseSets& sets, Interval window);
/// Phases of all threads and devices in `window`.
PhaseTimeline lay_out_phases(const Context& context, const RuntimeTrace& trace, Interval window);

/// The sums over members of a sorted, disjoint set.
PhaseSums sum_phases(const PhaseTimeline& timeline, const Intervals& within);

/// Every nanosecond labeled with the first phase that holds, in the order of phases.h. `items`,
/// when positive, gives the times per item.
std::vector<PhaseTime> phase_times(const PhaseSums& sums, std::int64_t items = 0);
KernelShares kernel_shares(const PhaseSums& sums, std::int64_t items);

}  // namespace gf
