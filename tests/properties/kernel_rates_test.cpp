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
  for (int k = 0; k < kKernels; ++k)
    rate[static_cast<std::size_t>(k)] = 0.05 + 0.8 * uniform(random),
    length[static_cast<std::size_t>(k)] = 8e3 + 1e5 * std::pow(uniform(random), 2);
  struct Place {
    std::size_t kernel;
    double ns, work, gap;
  };
  std::vector<Place> step;
  for (int p = 0; p < kPlaces; ++p) {
    const auto k = static_cast<std::size_t>(uniform(random) * kKernels);
    const double ns = length[k] * (1 + 0.1 * normal(random));
    step.push_back(
        {k, std::max(ns, 3e3),
         std::max(ns, 3e3) * std::clamp(rate[k] * (1 + flaws.places * normal(random)), 0.0, 1.0),
         uniform(random) < 0.3 ? 15e3 * uniform(random) : 1200});
  }
  // What the counters have counted at each edge of each kernel.
  struct Run {
    double start, end, before, work;
    std::size_t kernel;
  };
  std::vector<Run> runs;
  double t = 1e6, sum = 0;
  for (int s = 0; s < kSteps; ++s)
    for (const auto& place : step) {
      t += place.gap * (1 + 0.3 * uniform(random));
      const double ns = place.ns * (1 + 0.02 * normal(random));
      runs.push_back({t, t + ns, sum, place.work, place.kernel});
      t += ns, sum += place.work;
    }
  World w;
  auto& c = w.capture;
  const auto device = c.device_row(0);
  std::vector<double> time(kKernels, 0), work(kKernels, 0);
  for (const auto& r : runs) {
    const auto row = c.activities.add();
    c.activities.start_ns[row] = static_cast<Nanos>(r.start + flaws.edges_ns * normal(random));
    c.activities.duration_ns[row] = std::max<Nanos>(
        static_cast<Nanos>(r.end + flaws.edges_ns * normal(random)) - c.activities.start_ns[row],
        100);
    c.activities.device[row] = device;
    c.activities.name[row] = c.strings.intern("kernel_" + std::to_string(r.kernel));
    time[r.kernel] += r.end - r.start, work[r.kernel] += r.work;
  }
  double all = 0;
  for (double ns : time) all += ns;
  for (std::size_t k = 0; k < time.size(); ++k)
    w.truth.push_back(time[k] > 0 ? work[k] / time[k] : 0), w.share.push_back(time[k] / all);
  auto counted = [&](double at) {
    const auto it = std::upper_bound(runs.begin(), runs.end(), at,
                                     [](double x, const Run& r) { return x < r.start; });
    if (it == runs.begin()) return 0.0;
    const auto& r = *(it - 1);
    const double x = std::min((at - r.start) / (r.end - r.start), 1.0);
    return r.before + r.work * (x + flaws.ramp * (x - x * x));
  };
  std::vector<double> busy_before(runs.size() + 1, 0);
  for (std::size_t i = 0; i < runs.size(); ++i)
    busy_before[i + 1] = busy_before[i] + runs[i].end - runs[i].start;
  auto busy_until = [&](double at) {
    const auto i = static_cast<std::size_t>(
        std::upper_bound(runs.begin(), runs.end(), at,
                         [](double x, const Run& r) { return x < r.start; }) -
        runs.begin());
    return i == 0 ? 0.0 : busy_before[i - 1] + std::min(at, runs[i - 1].end) - runs[i - 1].start;
  };
  const Text busy = c.strings.intern("gpu.busy"), issue = c.strings.intern("issue.active");
  double last = 1e6 + flaws.samples_ns * normal(random);
  for (Nanos from = 1'000'000; static_cast<double>(from + kInterval) < t; from += kInterval) {
    const double to = static_cast<double>(from + kInterval) + flaws.samples_ns * normal(random);
    const double value =
                     (counted(to) - counted(last)) / kInterval * (1 + flaws.noise * normal(random)),
                 covered = (busy_until(to) - busy_until(last)) / kInterval;
    last = to;
    for (const auto& [id, v] : {std::pair{busy, covered}, std::pair{issue, value}}) {
      const auto row = c.counter_samples.add();
      c.counter_samples.start_ns[row] = from;
      c.counter_samples.duration_ns[row] = kInterval;
      c.counter_samples.device[row] = device;
      c.counter_samples.metric[row] = id;
      c.counter_samples.value[row] = v;
    }
  }
  return w;
}

TEST(KernelRatesProperty, IntervalsCoverTheTruthWhereTheModelIsWrong) {
  int covered = 0, all = 0;
  std::vector<double> errors, widths;
  for (const Flaws& flaws :
       {Flaws{}, Flaws{0.15, 0, 0.003, 300, 300}, Flaws{0, 0.3, 0.003, 300, 300},
        Flaws{0.1, 0.15, 0.01, 700, 500}, Flaws{0.3, 0.1, 0.003, 300, 300}})
    for (std::uint64_t seed : {1, 2}) {
      const World w = make_world(flaws, seed);
      const auto solved = solve_kernel_rates(w.capture, 0);
      ASSERT_EQ(solved.metrics.size(), 1u);
      int here = 0, inside = 0;
      for (std::size_t g = 0; g < solved.groups.size(); ++g) {
        const auto k = static_cast<std::size_t>(
            std::stoi(std::string(w.capture.text(w.capture.activities.name[solved.groups[g].first]))
                          .substr(7)));
        if (w.share[k] < 0.01) continue;
        const auto& r = solved.rates[0][g];
        inside += std::abs(r.value - w.truth[k]) <= r.half_width;
        ++here;
        errors.push_back(std::abs(r.value - w.truth[k]) / w.truth[k]);
        widths.push_back(r.half_width / w.truth[k]);
      }
      EXPECT_GE(inside, 0.8 * here)
          << "places " << flaws.places << " ramp " << flaws.ramp << " seed " << seed;
      covered += inside, all += here;
    }
  EXPECT_GE(covered, 0.9 * all) << "of " << all;
  EXPECT_LE(median(errors), 0.05);
  EXPECT_LE(median(widths), 0.3) << "intervals that cover because they are wide say nothing";
}

}  // namespace
}  // namespace gf
