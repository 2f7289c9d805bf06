// Rates taken apart from samples, in worlds that break the model's assumptions as real GPUs do:
// places of one kernel in the step differ, kernels do more at their beginning than at their end,
// timestamps of kernels and samples are off, counters are not exact.
#include "analyze/kernel_rates/kernel_rates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/statistics.h"

namespace gf {
namespace {

struct Flaws {
  double places = 0, ramp = 0, noise = 0;  // shares: of the rate by place, of the rate from a
                                           // kernel's beginning to its end, of a sample
  double edges_ns = 0, samples_ns = 0;     // errors of timestamps
};

struct World {
  Capture capture;
  std::vector<double> truth;  // by kernel: mean over the time it runs
  std::vector<double> share;  // of kernel time
};

World make_world(const Flaws& flaws, std::uint64_t seed) {
  constexpr int kKernels = 30, kPlaces = 110, kSteps = 150;
  constexpr Nanos kInterval = 200'000;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> rate(kKernels), length(kKernels);
  for (int kernel = 0; kernel < kKernels; ++kernel) {
    rate[static_cast<std::size_t>(kernel)] = 0.05 + 0.8 * uniform(random);
    length[static_cast<std::size_t>(kernel)] = 8e3 + 1e5 * std::pow(uniform(random), 2);
  }
  struct Place {
    std::size_t kernel;
    double ns, work, gap;
  };
  std::vector<Place> step;
  for (int place = 0; place < kPlaces; ++place) {
    const auto kernel = static_cast<std::size_t>(uniform(random) * kKernels);
    const double ns = length[kernel] * (1 + 0.1 * normal(random));
    step.push_back({kernel, std::max(ns, 3e3),
                    std::max(ns, 3e3) *
                        std::clamp(rate[kernel] * (1 + flaws.places * normal(random)), 0.0, 1.0),
                    uniform(random) < 0.3 ? 15e3 * uniform(random) : 1200});
  }
  // The state of the counters at each edge of each kernel.
  struct Run {
    double start, end, before, work;
    std::size_t kernel;
  };
  std::vector<Run> runs;
  double clock = 1e6, sum = 0;
  for (int repeat = 0; repeat < kSteps; ++repeat)
    for (const auto& place : step) {
      clock += place.gap * (1 + 0.3 * uniform(random));
      const double ns = place.ns * (1 + 0.02 * normal(random));
      runs.push_back({clock, clock + ns, sum, place.work, place.kernel});
      clock += ns;
      sum += place.work;
    }
  World world;
  auto& capture = world.capture;
  const auto device = capture.device_row(0);
  std::vector<double> time(kKernels, 0), work(kKernels, 0);
  for (const auto& run : runs) {
    const auto row = capture.activities.add();
    capture.activities.start_ns[row] =
        static_cast<Nanos>(run.start + flaws.edges_ns * normal(random));
    capture.activities.duration_ns[row] =
        std::max<Nanos>(static_cast<Nanos>(run.end + flaws.edges_ns * normal(random)) -
                            capture.activities.start_ns[row],
                        100);
    capture.activities.device[row] = device;
    capture.activities.name[row] = capture.strings.intern("kernel_" + std::to_string(run.kernel));
    time[run.kernel] += run.end - run.start;
    work[run.kernel] += run.work;
  }
  double all = 0;
  for (double ns : time) all += ns;
  for (std::size_t kernel = 0; kernel < time.size(); ++kernel) {
    world.truth.push_back(time[kernel] > 0 ? work[kernel] / time[kernel] : 0);
    world.share.push_back(time[kernel] / all);
  }
  auto counted = [&](double at) {
    const auto it =
        std::upper_bound(runs.begin(), runs.end(), at,
                         [](double value, const Run& run) { return value < run.start; });
    if (it == runs.begin()) return 0.0;
    const auto& run = *(it - 1);
    const double done = std::min((at - run.start) / (run.end - run.start), 1.0);
    return run.before + run.work * (done + flaws.ramp * (done - done * done));
  };
  std::vector<double> busy_before(runs.size() + 1, 0);
  for (std::size_t i = 0; i < runs.size(); ++i)
    busy_before[i + 1] = busy_before[i] + runs[i].end - runs[i].start;
  auto busy_until = [&](double at) {
    const auto run = static_cast<std::size_t>(
        std::upper_bound(runs.begin(), runs.end(), at,
                         [](double value, const Run& result) { return value < result.start; }) -
        runs.begin());
    return run == 0 ? 0.0
                    : busy_before[run - 1] + std::min(at, runs[run - 1].end) - runs[run - 1].start;
  };
  const Text busy = capture.strings.intern("gpu.busy"),
             issue = capture.strings.intern("issue.active");
  double last = 1e6 + flaws.samples_ns * normal(random);
  for (Nanos from = 1'000'000; static_cast<double>(from + kInterval) < clock; from += kInterval) {
    const double to = static_cast<double>(from + kInterval) + flaws.samples_ns * normal(random);
    const double value =
                     (counted(to) - counted(last)) / kInterval * (1 + flaws.noise * normal(random)),
                 covered = (busy_until(to) - busy_until(last)) / kInterval;
    last = to;
    for (const auto& [id, v] : {std::pair{busy, covered}, std::pair{issue, value}}) {
      const auto row = capture.counter_samples.add();
      capture.counter_samples.start_ns[row] = from;
      capture.counter_samples.duration_ns[row] = kInterval;
      capture.counter_samples.device[row] = device;
      capture.counter_samples.metric[row] = id;
      capture.counter_samples.value[row] = v;
    }
  }
  return world;
}

TEST(KernelRatesProperty, IntervalsCoverTheTruthWhereTheModelIsWrong) {
  int covered = 0, all = 0;
  std::vector<double> errors, widths;
  for (const Flaws& flaws :
       {Flaws{}, Flaws{0.15, 0, 0.003, 300, 300}, Flaws{0, 0.3, 0.003, 300, 300},
        Flaws{0.1, 0.15, 0.01, 700, 500}, Flaws{0.3, 0.1, 0.003, 300, 300}})
    for (std::uint64_t seed : {1u, 2u}) {
      const World world = make_world(flaws, seed);
      const auto solved = solve_kernel_rates(world.capture, 0);
      ASSERT_EQ(solved.metrics.size(), 1u);
      int here = 0, inside = 0;
      for (std::size_t group = 0; group < solved.groups.size(); ++group) {
        const auto kernel = static_cast<std::size_t>(
            std::stoi(std::string(world.capture.text(
                                      world.capture.activities.name[solved.groups[group].first]))
                          .substr(7)));
        if (world.share[kernel] < 0.01) continue;
        const auto& rate = solved.rates[0][group];
        inside += std::abs(rate.value - world.truth[kernel]) <= rate.half_width;
        ++here;
        errors.push_back(std::abs(rate.value - world.truth[kernel]) / world.truth[kernel]);
        widths.push_back(rate.half_width / world.truth[kernel]);
      }
      EXPECT_GE(inside, 0.8 * here)
          << "places " << flaws.places << " ramp " << flaws.ramp << " seed " << seed;
      covered += inside;
      all += here;
    }
  EXPECT_GE(covered, 0.9 * all) << "of " << all;
  EXPECT_LE(median(errors), 0.05);
  EXPECT_LE(median(widths), 0.3) << "intervals that cover because they are wide say nothing";
}

}  // namespace
}  // namespace gf
