// The model applied to what a stretch of time did: joules by component, with intervals.
// docs/energy.md gives the equations.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/energy/model.h"
#include "model/chips.h"

namespace gf {

/// What a stretch of device time did, one number for each column of the model: seconds, seconds x
/// share of SMs with work, degrees above the reference x seconds, then how often each feature
/// happened. Adds up over stretches.
using EnergyWork = std::vector<double>;

struct Interval95 {
  double low = 0, high = 0;
};

/// A model made ready to be applied many times.
class EnergyEvaluator {
 public:
  /// With `chip`, columns stand in for features that samples of a whole GPU do not tell apart:
  /// "tensor.cycle", a cycle of an SM's tensor pipes whatever the data type; "shared.access", a
  /// read or a write; "l1.fill", what an SM received from L2 by a load or by TMA. Their intervals
  /// span the kinds.
  explicit EnergyEvaluator(const EnergyModel& model, const Chip* chip = nullptr);

  /// Brings every coefficient of the chip, not of DRAM, to the voltage of this SM clock. Once,
  /// before the model is applied.
  void bring_to_clock(double sm_mhz);

  /// Widens every interval by what one board's calibration cannot know (EnergySpread): the error of
  /// the model's form on kernels that it has not seen, larger where counts were `sampled`, and,
  /// unless it is the `same_board`, the spread between boards. Once, before intervals are asked.
  void allow_for_spread(bool same_board, bool sampled);

  static constexpr std::size_t kStatic = 0, kActive = 1, kWarmth = 2, kFeatures = 3;
  const EnergyModel& model() const { return model_; }
  std::size_t columns() const { return joules_.size(); }
  EnergyWork no_work() const { return EnergyWork(columns(), 0.0); }
  /// Column of a feature; columns() when the model does not know it.
  std::size_t column(std::string_view feature) const;
  const std::string& feature(std::size_t column) const { return names_[column]; }
  /// Joules of one of a column.
  double joules(std::size_t column) const { return joules_[column]; }
  std::size_t component_of(std::size_t column) const { return component_[column]; }

  /// Ids in the order of reports: static, active, instructions, the pipes, the tensor types,
  /// shared, l1, tma, l2, dram.
  const std::vector<std::string>& components() const { return components_; }
  /// Joules by component. O(columns).
  std::vector<double> by_component(const EnergyWork& work) const;
  /// 95 % interval of one component, or of all together: from the bootstrap's draws, which know how
  /// coefficients go together; without draws the bounds of the coefficients are added up, which is
  /// never too narrow. O(columns x draws).
  Interval95 interval(const EnergyWork& work, std::size_t component) const;
  Interval95 interval_of_sum(const EnergyWork& work) const;
  bool has_draws() const { return !draws_.empty(); }

 private:
  void add_stand_in(const std::string& name,
                    const std::vector<std::pair<std::size_t, double>>& kinds);
  void add_draws();
  void order_components(const std::vector<std::string>& of);
  template <class Keep>
  Interval95 interval_over(const EnergyWork& work, Keep keep) const;
  template <class Keep>
  Interval95 bootstrap_over(const EnergyWork& work, Keep keep, double value) const;
  EnergyModel model_;
  std::vector<std::string> names_, components_;
  std::vector<double> joules_, low_, high_;
  std::vector<std::size_t> component_;
  double dynamic_spread_ = 0, dram_spread_ = 0, static_spread_ = 0;  // standard deviations
  std::vector<std::vector<double>> draws_;  // joules of each column, a row a draw
};

/// The component that a feature's energy is shown under: l2.load -> l2, tensor.bf16.mma ->
/// tensor.bf16, pipe.fma -> pipe.fma.
std::string energy_component(std::string_view feature);

}  // namespace gf
