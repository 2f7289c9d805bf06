// Which runs a calibration makes, in which order.
#pragma once

#include <vector>

#include "collect/microbench/run.h"

namespace gf::microbench {

struct Effort {
  int repeats = 3;        // runs of every point at full occupancy
  int sweep_repeats = 2;  // runs of every point of the sweeps
  double seconds = 1.2;   // measured window
};

/// The idle reference that must come before the GPU is woken.
std::vector<Plan> asleep_plans();
/// Everything else: each microbenchmark at full occupancy, sweeps over threads a block, blocks, and
/// number of accesses, and the idle references, shuffled by `seed` so that drift of temperature
/// does not pass for an effect.
std::vector<Plan> calibration_plans(const Runner& runner, const Effort& effort, unsigned seed);
/// Seconds that the plans will take, roughly.
double expected_seconds(const std::vector<Plan>& plans);

}  // namespace gf::microbench
