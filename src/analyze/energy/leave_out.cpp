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
  for (const auto& point : points)
    if (point.bench == bench)
      for (const auto& [feature, rate] : point.counts)
        if (rate > 0) rates[feature] = std::max(rates[feature], rate / point.seconds);
  return rates;
}

}  // namespace

std::vector<LeftOutBench> leave_one_out(const std::vector<EnergyPoint>& points) {
  constexpr double kEnough = 0.1, kDynamic = 0.05;  // share of a rate; share of energy above static
                                                    // power, below which nothing is judged
  std::set<std::string> benches;
  for (const auto& point : points)
    if (!point.counts.empty()) benches.insert(point.bench);
  std::map<std::string, Rates> rates;
  for (const auto& bench : benches) rates[bench] = highest_rates(points, bench);

  std::vector<LeftOutBench> results;
  for (const auto& left : benches) {
    const bool known = std::all_of(rates[left].begin(), rates[left].end(), [&](const auto& wanted) {
      return std::any_of(benches.begin(), benches.end(), [&](const auto& right) {
        const auto at = rates[right].find(wanted.first);
        return right != left && at != rates[right].end() && at->second >= kEnough * wanted.second;
      });
    });
    if (!known) continue;
    std::vector<EnergyPoint> rest;
    for (const auto& point : points)
      if (point.bench != left) rest.push_back(point);
    const auto model = fit_energy(rest, 0);
    if (!model) continue;
    LeftOutBench result{left, 0, 0};
    for (const auto& point : points) {
      const double measured = point.energy_j - model->static_w * point.seconds;
      if (point.bench != left || measured < kDynamic * point.energy_j) continue;
      EnergyEvaluator evaluator(*model);
      evaluator.bring_to_clock(point.sm_mhz);
      EnergyWork work = evaluator.no_work();
      work[EnergyEvaluator::kActive] = point.active * point.seconds;
      work[EnergyEvaluator::kWarmth] =
          (point.temperature_c - model->reference_celsius) * point.seconds;
      for (const auto& [feature, rate] : point.counts)
        if (const auto column = evaluator.column(feature); column < work.size())
          work[column] = rate;
      double predicted = 0;
      for (double joules : evaluator.by_component(work)) predicted += joules;
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
