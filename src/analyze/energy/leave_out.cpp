#include "analyze/energy/leave_out.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyze/energy/evaluate.h"

namespace gf {

namespace {

using Rates = std::map<std::string, double>;  // feature -> highest rate

Rates highest_rates(const std::vector<EnergyPoint>& points, const std::string& bench) {
  Rates rates;
  for (const auto& p : points)
    if (p.bench == bench)
      for (const auto& [feature, n] : p.counts)
        if (n > 0) rates[feature] = std::max(rates[feature], n / p.seconds);
  return rates;
}

}  // namespace

std::vector<LeftOutBench> leave_one_out(const std::vector<EnergyPoint>& points) {
  constexpr double kEnough = 0.1, kDynamic = 0.05;  // share of a rate; share of energy above static
                                                    // power, below which nothing is judged
  std::set<std::string> benches;
  for (const auto& p : points)
    if (!p.counts.empty()) benches.insert(p.bench);
  std::map<std::string, Rates> rates;
  for (const auto& b : benches) rates[b] = highest_rates(points, b);

  std::vector<LeftOutBench> results;
  for (const auto& left : benches) {
    const bool known = std::all_of(rates[left].begin(), rates[left].end(), [&](const auto& wanted) {
      return std::any_of(benches.begin(), benches.end(), [&](const auto& b) {
        const auto at = rates[b].find(wanted.first);
        return b != left && at != rates[b].end() && at->second >= kEnough * wanted.second;
      });
    });
    if (!known) continue;
    std::vector<EnergyPoint> rest;
    for (const auto& p : points)
      if (p.bench != left) rest.push_back(p);
    const auto model = fit_energy(rest, 0);
    if (!model) continue;
    LeftOutBench result{left, 0, 0};
    for (const auto& p : points) {
      const double measured = p.energy_j - model->static_w * p.seconds;
      if (p.bench != left || measured < kDynamic * p.energy_j) continue;
      EnergyEvaluator evaluator(*model);
      evaluator.bring_to_clock(p.sm_mhz);
      EnergyWork work = evaluator.no_work();
      work[EnergyEvaluator::kActive] = p.active * p.seconds;
      work[EnergyEvaluator::kWarmth] = (p.temperature_c - model->reference_celsius) * p.seconds;
      for (const auto& [feature, n] : p.counts)
        if (const auto c = evaluator.column(feature); c < work.size()) work[c] = n;
      double predicted = 0;
      for (double j : evaluator.by_component(work)) predicted += j;
      result.relative += predicted / measured - 1;
      ++result.points;
    }
    if (result.points == 0) continue;
    result.relative /= result.points;
    results.push_back(result);
  }
  return results;
}

}  // namespace gf
