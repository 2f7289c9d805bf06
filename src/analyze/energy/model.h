// The energy model of one GPU: E = (P_static + P_temperature (t - t0)) T + v(f) P_active a T + sum
// v_i(f) e_i n_i, with a the share of SMs that have work, n_i how often each feature happened, and
// v(f) = (V(f) / V(f0))^2 for what happens on the chip: its voltage falls with its clock f, that of
// DRAM does not. Method: Delestrac et al., ASAP 2024, widened by active power, compute classes and
// intervals. docs/energy.md gives every definition.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/describe.h"
#include "core/error.h"

namespace gf {

/// One feature that costs energy.
struct EnergyFeature {
  const char* id;    // l2.load
  const char* unit;  // what one is
  const char* meaning;
  const char* counters;  // how a counter report gives it: "a + b", with a factor in front "32 * a"
};
const std::vector<EnergyFeature>& energy_features();
/// Whether a feature's energy follows the voltage of the SM clock: all but DRAM.
bool on_chip(std::string_view feature);

/// The chip's voltage over that at the reference clock, as far as energies tell: falls linearly
/// with the clock, down to a floor.
struct VoltageCurve {
  double reference_mhz = 0;  // 0: unknown, the voltage is taken as constant
  double slope = 0;          // share of voltage lost for each share of the clock lost
  double floor = 1;  // lowest share of voltage that the points know; below their clocks nothing is
                     // known to fall further
  /// What an energy on the chip costs at this clock, over what it costs at the reference clock.
  double energy_factor(double mhz) const {
    if (!(reference_mhz > 0 && mhz > 0)) return 1;
    const double v = std::min(1.0, std::max(floor, 1 - slope * (1 - mhz / reference_mhz)));
    return v * v;
  }
  static constexpr auto fields() {
    using V = VoltageCurve;
    return std::tuple{field("reference_mhz", &V::reference_mhz, "SM clock of the coefficients"),
                      field("slope", &V::slope, "share of voltage lost a share of clock lost"),
                      field("floor", &V::floor, "lowest share of voltage")};
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
  static constexpr auto fields() {
    using C = EnergyCoefficient;
    return std::tuple{field("feature", &C::feature, "feature"),
                      field("unit", &C::unit, "what one is"),
                      field("picojoules", &C::picojoules, "energy of one"),
                      field("low", &C::low, "2.5 % bootstrap bound"),
                      field("high", &C::high, "97.5 % bootstrap bound"),
                      field("identified", &C::identified, "whether the data separate it"),
                      field("note", &C::note, "what to know")};
  }
};

struct EnergyFitError {
  std::string bench;
  double relative = 0;
  int points = 0;
  static constexpr auto fields() {
    using E = EnergyFitError;
    return std::tuple{field("bench", &E::bench, "microbenchmark"),
                      field("relative", &E::relative, "mean of (predicted - measured) / measured"),
                      field("points", &E::points, "points")};
  }
};

struct EnergyModel {
  std::string schema = "gpufathom.energy/1";
  std::string gpu, uuid, driver, date;
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
  int points = 0, dropped = 0;
  std::vector<EnergyCoefficient> coefficients;
  std::vector<EnergyFitError> errors;
  std::vector<std::string>
      draw_columns;  // static_w, active_w, then the features, in the order of a draw
  std::vector<std::vector<double>>
      draws;  // the bootstrap's coefficients: what intervals of sums are made from
  static constexpr auto fields() {
    using M = EnergyModel;
    return std::tuple{
        field("schema", &M::schema, "layout"),
        field("gpu", &M::gpu, "product"),
        field("uuid", &M::uuid, "board"),
        field("driver", &M::driver, "driver"),
        field("date", &M::date, "when"),
        field("static_w", &M::static_w, "static power at the reference temperature"),
        field("static_low", &M::static_low, "bound"),
        field("static_high", &M::static_high, "bound"),
        field("active_w", &M::active_w, "active power of all SMs"),
        field("active_low", &M::active_low, "bound"),
        field("active_high", &M::active_high, "bound"),
        field("per_celsius_w", &M::per_celsius_w, "static power a degree"),
        field("reference_celsius", &M::reference_celsius, "reference temperature"),
        field("voltage", &M::voltage, "voltage against clock"),
        field("sm_mhz_low", &M::sm_mhz_low, "lowest SM clock of a point"),
        field("sm_mhz_high", &M::sm_mhz_high, "highest SM clock of a point"),
        field("asleep_w", &M::asleep_w, "idle without a context"),
        field("context_w", &M::context_w, "idle with a context"),
        field("spin_w", &M::spin_w, "sleeping warps on all SMs"),
        field("gain_error", &M::gain_error, "systematic error of the sensor, relative"),
        field("mean_absolute_error", &M::mean_absolute_error, "of the fit, relative"),
        field("points", &M::points, "points of the fit"),
        field("dropped", &M::dropped, "points left out"),
        field("coefficients", &M::coefficients, "energy of each feature"),
        field("errors", &M::errors, "fit error by microbenchmark"),
        field("draw_columns", &M::draw_columns,
              "coefficients of a draw: static_w, active_w, features"),
        field("draws", &M::draws,
              "coefficients of each bootstrap round, from which intervals of sums follow")};
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

}  // namespace gf
