// The levels of model/levels.def: how much of the GPU is used, and at what depth.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>

#include "core/time.h"
#include "model/chips.h"

namespace gf {

enum class LevelPlace : std::uint8_t {
  window,      // a share of the window that intervals tell
  rung,        // of the ladder: each is a part of the one before
  beside,      // a share of time beside the ladder
  of_accesses  // a share of accesses, not of time
};

/// Places of a level in reports, beside the list of levels.
enum LevelShown : std::uint8_t {
  kNowhere = 0,
  kByRun = 1,       // of many runs, a line each
  kLive = 2,        // by record and monitor: what counters of the whole GPU tell
  kOverTime = 4,    // drawn over time
  kOfMany = 8,      // there for many GPUs too
  kForSteps = 16,   // not shown: searched for the period of steps
  kByKernel = 32,   // by kernel and layer
  kByProcess = 64,  // by process of a shared GPU
};

struct LevelRow {
  LevelPlace place;
  std::string_view bound;     // the level that it cannot be above, or empty
  std::string_view stand_in;  // the metric that samples have in its place, or empty
  int shown;
  std::string_view id;  // of the catalog
};

/// Ratios inside one kernel, 0..1.
enum class KernelLevel : std::uint8_t {
#define GF_METRIC(...)
#define GF_INPUT(...)
#define GF_WINDOW_LEVEL(...)
#define GF_LEVEL(name, ...) name,
#include "model/metrics.def"
};

/// All levels, those of the window first.
inline constexpr LevelRow kLevelRows[] = {
#define GF_WINDOW_LEVEL(stand_in, shown, id, ...) {LevelPlace::window, "", stand_in, shown, id},
#define GF_LEVEL(name, place, bound, stand_in, shown, id, ...) \
  {LevelPlace::place, bound, stand_in, shown, id},
#include "model/metrics.def"
#undef GF_METRIC
#undef GF_INPUT
};

inline constexpr std::size_t kWindowLevels =
    static_cast<std::size_t>(std::ranges::count(kLevelRows, LevelPlace::window, &LevelRow::place));
inline constexpr std::size_t kKernelLevels = std::size(kLevelRows) - kWindowLevels;
inline constexpr std::size_t kRungs =
    static_cast<std::size_t>(std::ranges::count(kLevelRows, LevelPlace::rung, &LevelRow::place));
static_assert(std::ranges::is_sorted(kLevelRows, {}, &LevelRow::place), "in the order of places");

constexpr const LevelRow& row_of(KernelLevel level) {
  return kLevelRows[kWindowLevels + static_cast<std::size_t>(level)];
}
constexpr std::string_view id_of(KernelLevel level) { return row_of(level).id; }

/// The level of kernels that `level` cannot be above.
constexpr std::optional<KernelLevel> bound_of(KernelLevel level) {
  for (std::size_t above = 0; above < kKernelLevels; ++above)
    if (id_of(static_cast<KernelLevel>(above)) == row_of(level).bound)
      return static_cast<KernelLevel>(above);
  return std::nullopt;
}

constexpr auto levels_shown(LevelShown where) {
  return std::views::filter(kLevelRows,
                            [where](const LevelRow& row) { return (row.shown & where) != 0; });
}

/// The same as samples name them: a level, then what stands in for it.
template <class Visit>
void each_sampled(LevelShown where, Visit visit) {
  for (const LevelRow& row : levels_shown(where)) {
    visit(row.id);
    if (!row.stand_in.empty()) visit(row.stand_in);
  }
}

/// Cycles of a sub-partition's tensor pipe an instruction, from which on a kernel has matrix
/// instructions: they take 4 or more (mma 4 to 16, wgmma up to 128), a packed 16-bit instruction
/// (HFMA2.MMA) takes 2; rounded counts of few leave 2.9.
inline constexpr double kMatrixCycles = 3.5;

/// factor * sum(numerators) / (denominator, when there is one) * (sm.active, when `times` names
/// it).
struct LevelFormula {
  KernelLevel level;
  ChipSet chips;
  std::string_view
      numerator;  // counters joined by " + "; one in brackets counts as 0 when the report lacks it
  std::string_view denominator;  // the same, or empty
  double factor;
  std::string_view times;  // the id of SM active for counters relative to active cycles, else empty
  std::string_view text;   // all of it
};

/// The acceptable formulas of each level, best first; those of tensor.flops come from
/// tensor_paths() of the chip, and matrix.issue from other levels.
std::span<const LevelFormula> level_formulas();

// When a sampled GPU counts as working, and where its steps are looked for: one rule for the
// recorder's summary and for `analyze`.

/// Drivers and monitors tick now and then: a stretch of this length (or one sample, when longer)
/// works when it is busier than kWorkShare, from its first sample that is busier than kTickShare to
/// its last one.
inline constexpr Nanos kWorkStretch = 100 * kNsPerMs;
inline constexpr double kTickShare = 0.01, kWorkShare = 0.02;

/// A level's course is searched for a period (levels_shown(kSteps)) over at most so many samples:
/// the level that repeats most clearly gives the step, as one that is always high says little.
inline constexpr std::size_t kStepSamples = 16384;

}  // namespace gf
