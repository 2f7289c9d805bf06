#include "analyze/energy/clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/energy/model.h"

namespace gf {

namespace {

constexpr double kStepMhz = 100;

/// Joules of some of a span's parts, with their bounds.
struct Sum {
  double joules = 0, low = 0, high = 0;
  void add(const EnergyPart& part) {
    joules += static_cast<double>(part.nj) * 1e-9;
    low += static_cast<double>(part.low_nj) * 1e-9;
    high += static_cast<double>(part.high_nj) * 1e-9;
  }
};

struct Parts {
  Sum still, chip, memory, rest;
};

Parts parts_of(const DeviceEnergy& energy) {
  Parts parts;
  for (const auto& part : energy.parts) {
    if (part.component == "static")
      parts.still.add(part);
    else if (part.component == "dram")
      parts.memory.add(part);
    else if (part.component == "rest")
      parts.rest.add(part);
    else
      parts.chip.add(part);
  }
  return parts;
}

EnergyAtClock at_clock(double mhz, double measured_mhz, double measured_j, const Parts& parts,
                       const VoltageCurve& voltage) {
  EnergyAtClock out;
  out.mhz = mhz;
  const double pace = measured_mhz / mhz;
  out.time_low = std::min(1.0, pace);
  out.time_high = std::max(1.0, pace);
  const double scale = voltage.energy_factor(mhz) / voltage.energy_factor(measured_mhz) - 1;
  // Parts that change beside the measured energy: the chip's with its voltage, and what the model
  // does not explain with it or not; static power with the time.
  const auto [chip_low, chip_high] = std::minmax({parts.chip.low * scale, parts.chip.high * scale});
  const auto [rest_low, rest_high] = std::minmax({0.0, parts.rest.joules * scale});
  out.joules_low = measured_j + chip_low + rest_low + parts.still.low * (out.time_low - 1);
  out.joules_high = measured_j + chip_high + rest_high + parts.still.high * (out.time_high - 1);
  out.race_low = measured_j;
  out.race_high = measured_j + parts.still.high * (out.time_high - 1);
  return out;
}

/// The first of the highest clocks that take least; what differs by less than a thousandth is
/// alike, as below the voltage's floor.
double cheapest(const std::vector<EnergyAtClock>& clocks, double EnergyAtClock::* joules) {
  const EnergyAtClock* best = &clocks.front();
  for (const auto& clock : clocks)
    if (clock.*joules < 0.999 * (best->*joules)) best = &clock;
  return best->mhz;
}

/// Adds joules of an item, where a step's items are known, and the user's price of them.
void put_prices(const DeviceEnergy& energy, std::optional<double> price_of_joule,
                ClockSweep& sweep) {
  double each = 1;  // of the span's joules
  const bool item = energy.step && energy.step->joules_per_item && sweep.measured_j > 0;
  if (item) each = *energy.step->joules_per_item / sweep.measured_j;
  for (auto& clock : sweep.clocks) {
    if (item) {
      clock.item_low = clock.joules_low * each;
      clock.item_high = clock.joules_high * each;
    }
    if (!price_of_joule) continue;
    clock.price_low = clock.joules_low * each * *price_of_joule;
    clock.price_high = clock.joules_high * each * *price_of_joule;
  }
}

std::string verdict_of(const ClockSweep& sweep) {
  const auto best = std::min_element(
      sweep.clocks.begin(), sweep.clocks.end(),
      [](const auto& one, const auto& other) { return one.joules_high < other.joules_high; });
  if (best->joules_high < 0.99 * sweep.measured_j)
    return fmt::format(
        "{:.0f} MHz takes {:.0f} to {:.0f} % less energy than the measured {:.0f} MHz, in {:.2f} "
        "to {:.2f} times the time",
        best->mhz, 100 * (1 - best->joules_high / sweep.measured_j),
        100 * (1 - best->joules_low / sweep.measured_j), sweep.measured_mhz, best->time_low,
        best->time_high);
  return "no clock is cheaper whether memory or the SM clock sets the pace: measure it";
}

}  // namespace

std::optional<ClockSweep> sweep_clocks(const DeviceEnergy& energy, const EnergyModel& model,
                                       std::optional<double> price_of_joule) {
  if (!energy.sm_mhz || energy.parts.empty() || !(model.voltage.reference_mhz > 0) ||
      model.voltage.slope <= 0)
    return std::nullopt;
  ClockSweep sweep;
  sweep.device = energy.device;
  sweep.measured_mhz = *energy.sm_mhz;
  sweep.measured_j = static_cast<double>(energy.nj) * 1e-9;
  const Parts parts = parts_of(energy);
  for (double mhz = model.sm_mhz_high; mhz >= model.sm_mhz_low - 1; mhz -= kStepMhz)
    sweep.clocks.push_back(
        at_clock(mhz, sweep.measured_mhz, sweep.measured_j, parts, model.voltage));
  if (sweep.clocks.empty()) return std::nullopt;
  put_prices(energy, price_of_joule, sweep);
  sweep.cheapest_by_clock_mhz = cheapest(sweep.clocks, &EnergyAtClock::joules_high);
  sweep.cheapest_by_memory_mhz = cheapest(sweep.clocks, &EnergyAtClock::joules_low);
  sweep.verdict = verdict_of(sweep);
  return sweep;
}

}  // namespace gf
