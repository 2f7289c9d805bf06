// The energy model of one GPU: E = (P_static + P_temperature (t - t0)) T + v(f) P_active a T + sum
// v_i(f) e_i n_i, with a the share of SMs that have work, n_i how often each feature happened, and
// v(f) = (V(f) / V(f0))^2 for what happens on the chip: its voltage falls with its clock f, that of
// DRAM does not. Method: Delestrac et al., ASAP 2024, widened by active power, compute classes and
// intervals. docs/energy.md gives every definition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/describe.h"
#include "core/error.h"
#include "model/chips.h"

namespace gf {

/// One feature that costs energy.
struct EnergyFeature {
  const char* id;    // l2.load
  const char* unit;  // what one is
  const char* meaning;
  const char* counters;  // how a counter report gives it: "a + b", with a factor in front "32 * a"
};
const std::vector<EnergyFeature>& energy_features();
/// True if a feature's energy follows the voltage of the SM clock: all but DRAM.
bool on_chip(std::string_view feature);
/// Nanoseconds of `seconds` in which DRAM is at work: all of them from a rate on that is 4 % of an
/// H200's, in proportion below it.
double dram_awake_ns(double accesses, double seconds);
inline constexpr std::string_view kDramAwake = "dram.awake";

/// The chip's voltage over that at the reference clock, as far as energies tell: falls linearly
/// with the clock, down to a floor.
struct VoltageCurve {
  double reference_mhz = 0;  // 0: unknown, the voltage is taken as constant
  double slope = 0;          // share of voltage lost for each share of the clock lost
  double floor = 1;  // lowest share of voltage that the points know; below their clocks nothing is
                     // known to fall further
  /// The energy of the chip at this clock, over that at the reference clock.
  double energy_factor(double mhz) const {
    if (!(reference_mhz > 0 && mhz > 0)) return 1;
    const double factor = std::min(1.0, std::max(floor, 1 - slope * (1 - mhz / reference_mhz)));
    return factor * factor;
  }
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("reference_mhz", &VoltageCurve::reference_mhz, "SM clock of the coefficients");
    visit("slope", &VoltageCurve::slope, "share of voltage lost a share of clock lost");
    visit("floor", &VoltageCurve::floor, "lowest share of voltage");
  }
};

/// One measured run in steady state.
struct EnergyPoint {
  std::string bench;
  std::string group;  // runs of one group differ only by chance: the unit of the bootstrap
  double seconds = 0, energy_j = 0;
  double active = 0;  // share of SMs with a block
  double temperature_c = 0, sm_mhz = 0;
  std::map<std::string, double> counts;  // feature -> how often, in the whole window
};

struct EnergyCoefficient {
  std::string feature, unit;
  double picojoules = 0, low = 0, high = 0;  // 95 % bootstrap interval
  bool identified =
      true;  // false: the data cannot tell it from the others, or it stands on its bound
  std::string note;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("feature", &EnergyCoefficient::feature, "feature");
    visit("unit", &EnergyCoefficient::unit, "what one is");
    visit("picojoules", &EnergyCoefficient::picojoules, "energy of one");
    visit("low", &EnergyCoefficient::low, "2.5 % bootstrap bound");
    visit("high", &EnergyCoefficient::high, "97.5 % bootstrap bound");
    visit("identified", &EnergyCoefficient::identified, "whether the data separate it");
    visit("note", &EnergyCoefficient::note, "what to know");
  }
};

struct EnergyFitError {
  std::string bench;
  double relative = 0;
  int points = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("bench", &EnergyFitError::bench, "microbenchmark");
    visit("relative", &EnergyFitError::relative, "mean of (predicted - measured) / measured");
    visit("points", &EnergyFitError::points, "points");
  }
};

/// Error of a model against measured energy, as standard deviations of logarithms: what
/// calibration runs of one board cannot know. The presets are what ten H200 boards say
/// (tests/system/energy_boards.py).
struct EnergySpread {
  double gain = 0.03;          // of the dynamic energy, from board to board
  double dram = 0.10;          // of DRAM's, beside it
  double idle = 0.042;         // of the static power, from board to board
  double form = 0.08;          // of the dynamic energy of kernels that no fit has seen
  double form_sampled = 0.08;  // the same where samples of the whole GPU count, not a report
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("gain", &EnergySpread::gain, "of dynamic energy, from board to board");
    visit("dram", &EnergySpread::dram, "of DRAM's energy beside it");
    visit("idle", &EnergySpread::idle, "of static power, from board to board");
    visit("form", &EnergySpread::form, "of kernels that no fit has seen");
    visit("form_sampled", &EnergySpread::form_sampled, "the same with sampled counts");
  }
};

/// Part that a feature has in an energy.
struct EnergyShare {
  std::string feature;
  double share = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("feature", &EnergyShare::feature, "feature");
    visit("share", &EnergyShare::share, "of the energy above static power");
  }
};

/// A run that tells boards apart, and its energy on the mean board.
struct QuickRun {
  std::string bench;
  int threads = 0, blocks = 0;
  double loop_nj = 0;  // above static power, of one loop of all warps, at the reference clock
  std::vector<EnergyShare> shares;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("bench", &QuickRun::bench, "microbenchmark");
    visit("threads", &QuickRun::threads, "threads a block");
    visit("blocks", &QuickRun::blocks, "blocks");
    visit("loop_nj", &QuickRun::loop_nj, "nanojoules of a loop above static power, mean board");
    visit("shares", &QuickRun::shares, "of that energy, by feature");
  }
};

/// One of the boards that a model is of.
struct PopulationBoard {
  std::string uuid, date;
  int points = 0, kernels = 0;
  double static_w = 0;
  double gain = 1, dram = 1;  // its energies over the mean board's; of DRAM in addition
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("uuid", &PopulationBoard::uuid, "board");
    visit("date", &PopulationBoard::date, "when");
    visit("points", &PopulationBoard::points, "runs of microbenchmarks");
    visit("kernels", &PopulationBoard::kernels, "kernels of programs");
    visit("static_w", &PopulationBoard::static_w, "idle with a context");
    visit("gain", &PopulationBoard::gain, "dynamic energy over the mean board's");
    visit("dram", &PopulationBoard::dram, "DRAM energy over the mean board's, in addition");
  }
};

/// Boards of one product, where a model is of several: what a board that nobody calibrated starts
/// from.
struct EnergyPopulation {
  std::vector<PopulationBoard> boards;
  std::vector<QuickRun> quick;  // for `calibrate --quick`, the most telling first
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("boards", &EnergyPopulation::boards, "the boards");
    visit("quick", &EnergyPopulation::quick, "runs of `calibrate --quick`, the most telling first");
  }
};

struct EnergyModel {
  std::string schema = "gpufathom.energy/1";
  std::string gpu, uuid, driver, date;
  std::string published;  // whose figures it is made of; empty: measured by this program
  double static_w = 0, static_low = 0,
         static_high = 0;  // idle with a context, at the reference temperature
  double active_w = 0, active_low = 0,
         active_high = 0;  // all SMs with work, beside what the features cost
  double per_celsius_w = 0, reference_celsius = 0;
  VoltageCurve voltage;
  double sm_mhz_low = 0, sm_mhz_high = 0;          // clocks of the fit's points
  double asleep_w = 0, context_w = 0, spin_w = 0;  // the three references as measured
  double gain_error =
      0.05;  // systematic error of board sensors, outside every interval (arXiv 2312.02741)
  double mean_absolute_error = 0;  // of the fit, relative
  EnergySpread spread;
  EnergyPopulation population;  // empty: the model of one board by itself
  int points = 0, dropped = 0;
  std::vector<EnergyCoefficient> coefficients;
  std::vector<EnergyFitError> errors;
  std::vector<std::string>
      draw_columns;  // static_w, active_w, then the features, in the order of a draw
  std::vector<std::vector<double>>
      draws;  // the bootstrap's coefficients: what intervals of sums are made from
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &EnergyModel::schema, "layout");
    visit("gpu", &EnergyModel::gpu, "product");
    visit("uuid", &EnergyModel::uuid, "board");
    visit("driver", &EnergyModel::driver, "driver");
    visit("date", &EnergyModel::date, "when");
    visit("published", &EnergyModel::published,
          "whose published figures it is made of; empty: a calibration");
    visit("static_w", &EnergyModel::static_w, "static power at the reference temperature");
    visit("static_low", &EnergyModel::static_low, "bound");
    visit("static_high", &EnergyModel::static_high, "bound");
    visit("active_w", &EnergyModel::active_w, "active power of all SMs");
    visit("active_low", &EnergyModel::active_low, "bound");
    visit("active_high", &EnergyModel::active_high, "bound");
    visit("per_celsius_w", &EnergyModel::per_celsius_w, "static power a degree");
    visit("reference_celsius", &EnergyModel::reference_celsius, "reference temperature");
    visit("voltage", &EnergyModel::voltage, "voltage against clock");
    visit("sm_mhz_low", &EnergyModel::sm_mhz_low, "lowest SM clock of a point");
    visit("sm_mhz_high", &EnergyModel::sm_mhz_high, "highest SM clock of a point");
    visit("asleep_w", &EnergyModel::asleep_w, "idle without a context");
    visit("context_w", &EnergyModel::context_w, "idle with a context");
    visit("spin_w", &EnergyModel::spin_w, "sleeping warps on all SMs");
    visit("gain_error", &EnergyModel::gain_error, "systematic error of the sensor, relative");
    visit("mean_absolute_error", &EnergyModel::mean_absolute_error, "of the fit, relative");
    visit("spread", &EnergyModel::spread,
          "standard deviations of logarithms that no calibration of one board knows");
    visit("population", &EnergyModel::population, "the boards that the model is of, if several");
    visit("points", &EnergyModel::points, "points of the fit");
    visit("dropped", &EnergyModel::dropped, "points left out");
    visit("coefficients", &EnergyModel::coefficients, "energy of each feature");
    visit("errors", &EnergyModel::errors, "fit error by microbenchmark");
    visit("draw_columns", &EnergyModel::draw_columns,
          "coefficients of a draw: static_w, active_w, features");
    visit("draws", &EnergyModel::draws,
          "coefficients of each bootstrap round, from which intervals of sums follow");
  }
  const EnergyCoefficient* find(const std::string& feature) const;
};

/// Fits all points at once: non-negative least squares on relative errors, 95 % intervals by
/// bootstrap over groups. Points named "context" give the static power; "asleep" is a reference
/// only. Errors: too few points. `system`, if given, receives the least-squares system as CSV, for
/// other solvers: a column a coefficient in joules a unit (watts; picojoules), then the right-hand
/// side.
Result<EnergyModel> fit_energy(const std::vector<EnergyPoint>& points, int bootstrap_rounds = 400,
                               unsigned seed = 1, std::string* system = nullptr);

// The model applied to what a stretch of time did: joules by component, with intervals.
// docs/energy.md gives the equations.

/// The work of a stretch of device time, one number for each column of the model: seconds, seconds
/// x share of SMs with work, degrees above the reference x seconds, then how often each feature
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
  /// Fills what follows from counts and time: the time in which DRAM is at work.
  void derive(EnergyWork& work, double seconds) const;
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
