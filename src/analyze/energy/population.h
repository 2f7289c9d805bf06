// The boards of one product as a population: a model of their mean, how boards differ, and what a
// few runs say of a board that nobody calibrated.
//
// The energies of a board are those of the mean board times exp(d), with d normal around 0: a gain
// that everything shares, one of DRAM, and an own part of each coefficient. Runs that many boards
// made are expected on the next one with their own shares of coefficients, so that the logarithm of
// what it says over what was expected is linear in d, and the posterior of d is normal too.
// docs/calibration.md, "Boards as a population".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyze/energy/calibrate.h"
#include "analyze/energy/model.h"
#include "core/error.h"

namespace gf {

/// All that is known of one board.
struct BoardEvidence {
  EnergyPointsFile raw;
  std::vector<BenchCounts> benches;
  std::vector<CountedKernel> kernels;
};

/// The model of the boards' mean. Kernels of programs take part like microbenchmarks; with them the
/// power of DRAM at work is told from its accesses. Errors: too few boards or points.
Result<EnergyModel> fit_population(const std::vector<BoardEvidence>& boards);

/// The model of the board whose runs `raw` holds: its static power as measured, its energies as the
/// posterior of the population. Runs that are not in the population's list, or under a power cap,
/// are left out, windows cut to `seconds`. Errors: no run of the list, no idle reference.
Result<EnergyModel> adapt_to_board(const EnergyModel& population, const EnergyPointsFile& raw,
                                   double seconds);

/// Measured seconds of a run of `calibrate --quick`.
inline constexpr double kQuickSeconds = 0.5;

/// Kernels of a board by the population and by the model that its quick runs made of it.
std::vector<StrangerKernel> meet(const EnergyModel& population, const EnergyModel& adapted,
                                 const std::vector<CountedKernel>& kernels);

/// Each board left out in turn, and, for its kernels, each family of kernels on all boards. Behind
/// them the `strangers`, which are in no fit.
Result<std::vector<StrangerBoard>> leave_boards_out(
    const std::vector<BoardEvidence>& boards, const std::vector<BoardEvidence>& strangers = {});

/// Standard deviation of logarithms of the dynamic energy of the kernels of these boards,
/// after the quick runs: the model's form.
double form_spread(std::span<const StrangerBoard> boards);

/// Kernels of one kind: matmul_bf16_512 and linear_relu_fp16_256 are products.
std::string kernel_family(std::string_view name);

}  // namespace gf
