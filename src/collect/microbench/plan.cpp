#include "collect/microbench/plan.h"

#include <algorithm>
#include <random>

namespace gf::microbench {

std::vector<Plan> asleep_plans() {
  return {{.bench = "asleep", .threads = 0, .blocks = 0, .seconds = 3, .repeat = 0}};
}

std::vector<Plan> calibration_plans(const Runner& runner, const Effort& effort, unsigned seed) {
  std::vector<Plan> plans;
  auto add = [&](Plan p, int repeats) {
    for (p.repeat = 0; p.repeat < repeats; ++p.repeat) plans.push_back(p);
  };
  for (const auto& b : runner.benches()) {
    Plan full = runner.full(b);
    full.seconds = effort.seconds;
    add(full, effort.repeats);
    const bool level =
        b.id == "shared_load" || b.id == "l1_load" || b.id == "l2_load" || b.id == "dram_load";
    if (level) {
      for (unsigned threads : {1u, 32u, 128u, 256u, 512u}) {  // 1024 is the full point
        Plan p = full;
        p.threads = threads;
        add(p, effort.sweep_repeats);
      }
      for (double factor : {0.5, 2.0}) {  // number of accesses, by the length of the run
        Plan p = full;
        p.seconds = effort.seconds * factor;
        p.repeat = 0;
        add(p, 1);
      }
    }
    // Fewer SMs at work set active power apart, and keep the tensor cores under the power cap, at
    // the full clock.
    if (b.id == "fma_fp32" || b.id == "dram_load_wide" || b.id == "l2_load_wide" ||
        b.id == "spin" || b.feature.starts_with("tensor."))
      for (unsigned part : {4u, 2u}) {
        Plan p = full;
        p.blocks = std::max(1u, full.blocks / part);
        add(p, effort.sweep_repeats);
      }
  }
  add({.bench = "context", .threads = 0, .blocks = 0, .seconds = effort.seconds}, 4);
  std::shuffle(plans.begin(), plans.end(), std::mt19937(seed));
  return plans;
}

double expected_seconds(const std::vector<Plan>& plans) {
  double sum = 0;
  for (const auto& p : plans)
    sum += p.seconds +
           0.6;  // rise time, the wait for the first counter update, finding the launch length
  return sum;
}

}  // namespace gf::microbench
