// Uncertainty of a program's mean step, from its steps and captures: the one
// estimate of noise behind verdicts and culprits (docs/compare.md, "Verdicts").
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace gf {

/// Times of one capture's steps, in the order in which they ran.
using StepTimes = std::vector<double>;

/// The captures of one version of a program.
struct MeasuredSide {
  std::vector<StepTimes> captures;
  /// When each capture was recorded, on one clock for both sides; empty: not known.
  std::vector<double> recorded_at;
  /// By how large a share of its time the side may be longer or shorter than was recorded: kernels
  /// that doubts of the capture say are missing, or are there twice. Below 1.
  double missing = 0, extra = 0;
};

/// One capture a side cannot tell a change from what holds for a whole capture: GPUs of one product
/// keep clocks that are 3 % apart for minutes. With fewer captures than this of each, no limit
/// below kResolution is decided by less than kResolution.
inline constexpr std::int64_t kCapturesThatTell = 4;
inline constexpr double kResolution = 0.03;

/// Below, steps are taken as independent.
inline constexpr std::size_t kFewestForMemory = 8;

double mean_of(const StepTimes& values);

/// On what scale steps are compared: logarithms for ratios, times for what is added.
enum class StepScale : std::uint8_t { logarithm, time };

/// Half the interval of 95 %, by which a difference is shown, and of 99 %, by which equality is.
struct HalfWidths {
  double told = 0, pass = 0;
};

/// The second side's mean less the first's, on a scale.
struct ChangeOfMeans {
  double change = 0;
  HalfWidths reach;
  double spread = 0;          // of one capture's mean
  std::int64_t captures = 1;  // of the side that has fewer
  bool in_turns = true;       // false: recorded one version after the other
};

/// Empty where nothing tells the noise: fewer than three steps in the only capture of a side. No
/// capture is without steps; on the scale of logarithms none has a mean of 0.
std::optional<ChangeOfMeans> change_of_means(const MeasuredSide& before, const MeasuredSide& after,
                                             StepScale scale);

}  // namespace gf
