// The time and energy of a measured span at other SM clocks. Nothing is set: the voltage of the
// model says what the chip's energy would be, and the time lies between that of work which waits
// for memory alone and that of work which follows the clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/result.h"

namespace gf {

struct EnergyModel;

struct EnergyAtClock {
  double mhz = 0;
  double time_low = 1, time_high = 1;  // over the measured time
  double joules_low = 0, joules_high = 0;
  /// The measured clock, then idle for as long as this one may take: race to idle.
  double race_low = 0, race_high = 0;
  std::optional<double> item_low, item_high;    // joules of one item
  std::optional<double> price_low, price_high;  // of it, or of the span, by the user's price
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("mhz", &EnergyAtClock::mhz, "SM clock");
    visit("time_low", &EnergyAtClock::time_low, "time over the measured, if memory sets the pace");
    visit("time_high", &EnergyAtClock::time_high, "the same if the SM clock does");
    visit("joules_low", &EnergyAtClock::joules_low, "least energy");
    visit("joules_high", &EnergyAtClock::joules_high, "most energy");
    visit("race_low", &EnergyAtClock::race_low,
          "least energy at the measured clock and idle until this one could have ended");
    visit("race_high", &EnergyAtClock::race_high, "most of it");
    visit("item_low", &EnergyAtClock::item_low,
          "joules_low of one item; null: items of a step are not known");
    visit("item_high", &EnergyAtClock::item_high, "joules_high of one");
    visit("price_low", &EnergyAtClock::price_low,
          "by --price, of an item, else of the span; null without");
    visit("price_high", &EnergyAtClock::price_high, "most of it");
  }
};

struct ClockSweep {
  std::int64_t device = 0;
  double measured_mhz = 0, measured_j = 0;
  std::vector<EnergyAtClock> clocks;  // of the model's range, highest first
  /// The cheapest clock if the SM clock sets the pace, and if memory does: between them it lies.
  double cheapest_by_clock_mhz = 0, cheapest_by_memory_mhz = 0;
  std::string verdict;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("device", &ClockSweep::device, "device number");
    visit("measured_mhz", &ClockSweep::measured_mhz, "mean SM clock of the span");
    visit("measured_j", &ClockSweep::measured_j, "its energy");
    visit("clocks", &ClockSweep::clocks, "predictions, highest clock first");
    visit("cheapest_by_clock_mhz", &ClockSweep::cheapest_by_clock_mhz,
          "clock of least energy, and so of least price, if the SM clock sets the pace");
    visit("cheapest_by_memory_mhz", &ClockSweep::cheapest_by_memory_mhz,
          "the same if memory does: the cheapest lies between the two");
    visit("verdict", &ClockSweep::verdict, "the cheapest clock, as far as intervals tell");
  }
};

/// Empty where the model has no voltage, or the span no clock or parts. `price_of_joule`: the
/// user's.
std::optional<ClockSweep> sweep_clocks(const DeviceEnergy& energy, const EnergyModel& model,
                                       std::optional<double> price_of_joule = {});

}  // namespace gf
