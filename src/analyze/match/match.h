// Matching: which kernel instance of a trace is which kernel of a counter report
// (docs/matching.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyze/context.h"

namespace gf {

/// Pairs the kernels of `devices` (each inside its window) with capture.report_kernels. Pure; never
/// fails: what cannot be paired says so in its state, and a report of another program in
/// info.verdict.
Matching match_kernels(const Capture& capture, const std::vector<DeviceTimeline>& devices);

// Global alignment of two sequences of symbols: the pairing of equal symbols, in order on both
// sides, that has the most pairs. Where several pairings have the most, the durations choose, and
// the pairs that are not in all of them say so.

struct SequenceMatch {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> partner;  // by position in a: position in b, or kNone
  std::vector<bool>
      ambiguous;  // by position in a: some equally good pairing gives it another partner, or none
};

/// cost(i, j) >= 0 says how badly the durations of a[i] and b[j] agree; it decides between pairings
/// of equally many pairs. Time and memory grow with a.size() * b.size(): callers cut long sequences
/// first.
SequenceMatch align_exactly(std::span<const std::uint32_t> left,
                            std::span<const std::uint32_t> right,
                            const std::function<double(std::size_t, std::size_t)>& cost = {});

// Lays a report, which usually holds one step, over a trace, which holds several: the report's
// sequence may start over as often as the trace repeats it, be cut at either end, and miss or have
// additional kernels anywhere.

struct Laying {
  std::vector<std::uint32_t>
      partner;  // by position in the trace: position in the report, or SequenceMatch::kNone
  std::vector<bool> ambiguous;  // by position in the trace, as in SequenceMatch
  std::size_t laps = 0;         // how often the report was laid over the trace
};

/// cost as for align_exactly. Small problems are solved exactly; large ones are cut at stretches
/// that repeat the report word for word and solved exactly in between.
Laying lay_over(std::span<const std::uint32_t> trace, std::span<const std::uint32_t> report,
                const std::function<double(std::size_t, std::size_t)>& cost);

}  // namespace gf
