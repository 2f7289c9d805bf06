#include "report/energy_cost.h"

#include <cmath>

namespace gf {

namespace {

constexpr double kJoulesOfKilowattHour = 3.6e6;

EnergyCost cost_of(std::string of, double joules, const EnergyFactors& factors) {
  EnergyCost cost;
  cost.of = std::move(of);
  cost.joules = joules;
  const double hours = joules * factors.overhead / kJoulesOfKilowattHour;
  cost.kilowatt_hours = hours;
  if (factors.price) cost.price = hours * *factors.price;
  if (factors.co2_grams) cost.co2_grams = hours * *factors.co2_grams;
  return cost;
}

/// The output of a serving engine: tokens, requests, tokens by the kind of their steps.
void add_serving(const Serving& serving, const EnergyFactors& factors,
                 std::vector<EnergyCost>& costs) {
  if (serving.joules_per_token)
    costs.push_back(cost_of("token", *serving.joules_per_token, factors));
  double joules = 0, count = 0;
  for (const auto& request : serving.requests)
    if (request.nj) {
      joules += static_cast<double>(*request.nj) * 1e-9;
      ++count;
    }
  if (count > 0) costs.push_back(cost_of("request", joules / count, factors));
  for (const auto& kind : serving.kinds)
    if (kind.joules_per_token)
      costs.push_back(
          cost_of("token of " + std::string(name_of(kind.kind)), *kind.joules_per_token, factors));
}

}  // namespace

std::optional<double> EnergyFactors::price_of_joule() const {
  if (!price) return std::nullopt;
  return *price * overhead / kJoulesOfKilowattHour;
}

std::vector<EnergyCost> energy_costs(const JobEnergy& job, const EnergyFactors& factors) {
  std::vector<EnergyCost> costs;
  if (!factors.any()) return costs;
  const auto add = [&](const char* of, double joules) {
    costs.push_back(cost_of(of, joules, factors));
  };
  add("job", static_cast<double>(job.nj) * 1e-9);
  if (job.wait_nj) add("waiting", static_cast<double>(*job.wait_nj) * 1e-9);
  if (job.step) add("step", job.step->joules);
  if (job.step && job.step->joules_per_item) add("item", *job.step->joules_per_item);
  if (job.joules_per_token) add("token", *job.joules_per_token);
  return costs;
}

std::vector<EnergyCost> energy_costs(const Analysis& analysis, const EnergyFactors& factors) {
  std::vector<EnergyCost> costs;
  if (!factors.any()) return costs;
  double joules = 0, step = 0, item = 0;
  for (const auto& device : analysis.energy.devices) {
    joules += static_cast<double>(device.nj) * 1e-9;
    if (!device.step) continue;
    step += device.step->joules;
    item += device.step->joules_per_item.value_or(0);
  }
  costs.push_back(cost_of("span", joules, factors));
  if (step > 0) costs.push_back(cost_of("step", step, factors));
  if (item > 0) costs.push_back(cost_of("item", item, factors));
  if (analysis.serving) add_serving(*analysis.serving, factors, costs);
  return costs;
}

}  // namespace gf
