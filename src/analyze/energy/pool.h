// The boards of a population, prepared once for the many fits of leaving some out, and the joint
// fit of their rows.
#pragma once

#include <Eigen/Dense>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/energy/population.h"
#include "analyze/nnls.h"

namespace gf {

inline constexpr double kOwnSpread = 0.02;  // of each coefficient, from board to board
inline constexpr double kRunNoise = 0.025;  // of a run, over what its board's other runs say

/// To five digits: what a model file keeps of what is drawn or judged.
double to_five_digits(double value);

struct PreparedBoard {
  const BoardEvidence* evidence = nullptr;
  std::vector<EnergyPoint> points;  // of the joint fit
  double static_w = 0, celsius = 0, per_celsius_w = 0;
};

Result<std::vector<PreparedBoard>> prepare_boards(const std::vector<BoardEvidence>& boards);

/// The population of these boards, without the kernels of one family.
Result<EnergyModel> fit_population(const std::vector<const PreparedBoard*>& boards,
                                   const std::string& without_family);

/// A shape that a microbenchmark ran in: its name, threads a block, blocks.
using RunKey = std::tuple<std::string, int, int>;

/// Joules of a loop above static power, of runs that no cap slowed; windows cut to `seconds`, 0:
/// whole.
std::map<RunKey, std::vector<double>> loop_joules(const EnergyPointsFile& raw, double static_w,
                                                  double celsius, double per_celsius,
                                                  double seconds);

struct IdleReference {
  double watts = 0, error = 0, celsius = 0;
  int runs = 0;
};
IdleReference idle_reference(const EnergyPointsFile& raw, double seconds);

/// 1 for the coefficients of DRAM, 0 for the others.
Eigen::VectorXd of_dram(const std::vector<std::string>& features);
/// Prior covariance of the logarithms of a board's coefficients.
Eigen::MatrixXd board_prior(const EnergySpread& spread, const Eigen::VectorXd& dram);
/// One run more: its covariance with everything over its own variance.
Eigen::VectorXd kalman_gain(const Eigen::MatrixXd& covariance, const Eigen::VectorXd& shares);

/// A second of a run: counts in picojoules a coefficient, and its power.
struct PoolRow {
  Eigen::VectorXd rates;  // brought to the clock's voltage
  double dynamic_w = 0, watts = 0, sm_mhz = 0;
  RunKey key;
  bool kernel = false;
};

struct PoolBoard {
  const PreparedBoard* from = nullptr;
  std::vector<PoolRow> rows;
  int kernels = 0;
  double gain = 0, dram = 0;  // logarithms over the mean board
};

/// The boards with the coefficients of their mean.
class Pool {
 public:
  Pool(const std::vector<const PreparedBoard*>& from, const std::string& without_family);

  /// Part of each coefficient in a row's energy; empty without energy.
  Eigen::VectorXd shares(const Eigen::VectorXd& rates) const;
  /// The factors from the mean board's coefficients to a board's.
  Eigen::VectorXd effect(const PoolBoard& board) const;

  std::vector<std::string> features;
  Eigen::VectorXd dram, coefficients;
  std::vector<PoolBoard> boards;
  EnergyModel model;  // what is not fitted here

 private:
  Eigen::VectorXd at_clock(const VoltageCurve& voltage, double sm_mhz) const;
  template <class Factor>
  NonNegativeFit fit_rows(Factor&& factor) const;
  double residual(const VoltageCurve& voltage) const;
  void find_voltage();
  void solve();
  void solve_coefficients();
  void find_effects(PoolBoard& board) const;
  void centre_effects();
  Eigen::VectorXd rates_of(const std::map<std::string, double>& counts, double seconds) const;
  void add(const PreparedBoard& board, const std::string& without_family);
};

/// A run that at least two boards made at full clock: shares and energy of a loop on the mean
/// board.
struct QuickCandidate {
  RunKey key;
  Eigen::VectorXd shares;
  double log_joules = 0;
};
std::vector<QuickCandidate> quick_candidates(const Pool& pool);

}  // namespace gf
