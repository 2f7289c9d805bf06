// Cost of a run's energy by the user's factors: money and carbon dioxide, for the run and
// for what it made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/ranks/job_energy.h"
#include "analyze/result.h"

namespace gf {

/// The user's; without one there is nothing of its kind.
struct EnergyFactors {
  std::optional<double> price;      // of a kilowatt-hour
  std::optional<double> co2_grams;  // of a kilowatt-hour
  double overhead = 1;              // energy of the site for each joule of its GPUs
  bool any() const { return price || co2_grams; }
  /// Price of a joule of the GPUs, with the site's overhead.
  std::optional<double> price_of_joule() const;
};

struct EnergyCost {
  std::string of;
  double joules = 0;
  std::optional<double> kilowatt_hours, price, co2_grams;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("of", &EnergyCost::of,
          "the span, the job, its waiting, or one mean step, item, token, request, or token of a "
          "kind of steps");
    visit("joules", &EnergyCost::joules, "energy of all devices, measured or attributed");
    visit("kilowatt_hours", &EnergyCost::kilowatt_hours, "of the site: with its overhead");
    visit("price", &EnergyCost::price, "by --price; null without");
    visit("co2_grams", &EnergyCost::co2_grams, "by --co2; null without");
  }
};

/// The span first, then what it made, as far as the capture tells.
std::vector<EnergyCost> energy_costs(const Analysis& analysis, const EnergyFactors& factors);

/// The same of a job: the job, what its ranks wait, then what it made.
std::vector<EnergyCost> energy_costs(const JobEnergy& job, const EnergyFactors& factors);

}  // namespace gf
