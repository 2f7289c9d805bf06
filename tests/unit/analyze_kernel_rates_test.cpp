#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analyze/kernel_rates/kernel_rates.h"

namespace gf {
namespace {

/// A GPU that runs kernels one after the other and is sampled on a clock that is `shift` behind.
/// Kernel k keeps its rate; durations vary by a tenth and order at random, so that kernels meet
/// different neighbors.
struct World {
  Capture capture;
  std::vector<double> rates;
};

/// Cycles a nanosecond: every other kernel is held by the power limit.
double clock_of(int kernel) { return kernel % 2 == 0 ? 1.6 : 1.98; }
constexpr double kIdleClock = 1.98;

/// `clocks`: kernels run at their own clocks, rates are shares of cycles, and cycles are sampled.
World make_world(int kernels, Nanos shift, double noise, bool welded, std::uint64_t seed,
                 bool clocks = false) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal(0, 1);
  World world;
  auto& capture = world.capture;
  const auto device = capture.device_row(0);
  std::vector<double> length;
  for (int kernel = 0; kernel < kernels; ++kernel) {
    world.rates.push_back(uniform(random));
    length.push_back(5e4 + 4e5 * uniform(random));
  }
  struct Span {
    Nanos start, end;
    int kernel;
  };
  std::vector<Span> spans;
  Nanos time = 1'000'000'000;
  while (spans.size() < 8000) {
    const int index = static_cast<int>(uniform(random) * kernels);
    auto run = [&](int kernel) {
      const auto ns = static_cast<Nanos>(length[static_cast<std::size_t>(kernel)] *
                                         (welded && kernel < 2 ? 1 : 1 + 0.1 * normal(random)));
      spans.push_back({time, time + std::max<Nanos>(ns, 1000), kernel});
      time = spans.back().end + 1000;
    };
    run(welded && index == 1 ? 0 : index);
    if (welded && spans.back().kernel == 0)
      spans.push_back(
          {spans.back().start, spans.back().end, 1});  // at once on another stream, always
    if (uniform(random) < 0.05) time += 400'000;       // idle now and then: what alignment lives on
  }
  for (const auto& span : spans) {
    const auto row = capture.activities.add();
    capture.activities.start_ns[row] = span.start;
    capture.activities.duration_ns[row] = span.end - span.start;
    capture.activities.device[row] = device;
    capture.activities.name[row] = capture.strings.intern("kernel_" + std::to_string(span.kernel));
  }
  const Text busy = capture.strings.intern("gpu.busy"),
             issue = capture.strings.intern("issue.active"),
             sm_cycles = capture.strings.intern("sm.cycles");
  std::size_t first = 0;
  constexpr Nanos interval = 200'000;
  for (Nanos from = spans.front().start; from + interval < time; from += interval) {
    double covered = 0, value = 0, cycles = kIdleClock * interval;
    while (spans[first].end <= from) ++first;
    for (std::size_t i = first; i < spans.size() && spans[i].start < from + interval; ++i) {
      const auto overlap = static_cast<double>(std::min(spans[i].end, from + interval) -
                                               std::max(spans[i].start, from));
      if (!(welded && spans[i].kernel == 1)) covered += overlap / interval;
      const double share = overlap / interval;
      if (clocks) cycles += overlap * (clock_of(spans[i].kernel) - kIdleClock);
      value += share * (clocks ? clock_of(spans[i].kernel) : 1) *
               world.rates[static_cast<std::size_t>(spans[i].kernel)];
    }
    if (clocks) value *= interval / cycles;
    std::vector<std::pair<Text, double>> counters{{busy, covered},
                                                  {issue, value + noise * normal(random)}};
    if (clocks) counters.emplace_back(sm_cycles, cycles);
    for (const auto& [id, counted] : counters) {
      const auto row = capture.counter_samples.add();
      capture.counter_samples.start_ns[row] = from - shift;
      capture.counter_samples.duration_ns[row] = interval;
      capture.counter_samples.device[row] = device;
      capture.counter_samples.metric[row] = id;
      capture.counter_samples.value[row] = counted;
    }
  }
  return world;
}

int kernel_of(const Capture& capture, const KernelGroup& group) {
  return std::stoi(std::string(capture.text(capture.activities.name[group.first])).substr(7));
}

TEST(KernelRates, FindsTheRatesAndTheClockShift) {
  int inside = 0, all = 0;
  for (std::uint64_t seed : {1u, 2u, 3u}) {
    const Nanos shift = 1'327'500 * static_cast<Nanos>(seed);
    const World world = make_world(25, shift, 0.02, false, seed);
    const auto solved = solve_kernel_rates(world.capture, 0);
    ASSERT_EQ(solved.metrics.size(), 1u);
    EXPECT_LT(std::abs(solved.shift_ns - shift), 10'000);
    EXPECT_GT(solved.fit_of_shift, 0.98);
    for (std::size_t group = 0; group < solved.groups.size(); ++group) {
      const auto& rate = solved.rates[0][group];
      const double truth =
          world.rates[static_cast<std::size_t>(kernel_of(world.capture, solved.groups[group]))];
      EXPECT_TRUE(rate.resolvable);
      EXPECT_NEAR(rate.value, truth, 0.05);
      inside += std::abs(rate.value - truth) <= rate.half_width;
      ++all;
    }
  }
  EXPECT_GE(inside, 0.85 * all) << "95 % intervals must cover about that often";
}

TEST(KernelRates, SharesOfCyclesWhereClocksDiffer) {
  const World world = make_world(12, 0, 0.003, false, 5, true);
  const auto solved = solve_kernel_rates(world.capture, 0);
  ASSERT_EQ(solved.metrics.size(), 2u);
  for (std::size_t metric = 0; metric < 2; ++metric)
    for (std::size_t group = 0; group < solved.groups.size(); ++group) {
      const int kernel = kernel_of(world.capture, solved.groups[group]);
      if (world.capture.text(solved.metrics[metric]) == "sm.cycles") {
        EXPECT_NEAR(solved.rates[metric][group].value, clock_of(kernel), 0.03);
      } else {
        EXPECT_NEAR(solved.rates[metric][group].value,
                    world.rates[static_cast<std::size_t>(kernel)], 0.01);
      }
    }
}

TEST(KernelRates, KernelsThatNeverSeparateAreNotResolvable) {
  const World same = make_world(12, 0, 0.02, true, 7);
  const auto solved = solve_kernel_rates(same.capture, 0);
  ASSERT_EQ(solved.metrics.size(), 1u);
  for (std::size_t group = 0; group < solved.groups.size(); ++group)
    EXPECT_EQ(solved.rates[0][group].resolvable,
              kernel_of(same.capture, solved.groups[group]) >= 2);
}

TEST(KernelRates, AMeanOfInstancesThatDiffer) {
  // One kernel at two places of a step, at 20 and at 60 %: the answer is their mean by time, not
  // what fits best.
  World world;
  auto& capture = world.capture;
  const auto device = capture.device_row(0);
  const Text busy = capture.strings.intern("gpu.busy"),
             issue = capture.strings.intern("issue.active");
  std::mt19937_64 random(11);
  std::vector<std::pair<Interval, double>> spans;
  Nanos time = 1'000'000'000;
  for (int step = 0; step < 300; ++step) {
    for (const auto& [name, ns, rate] : {std::tuple{"a", 150'000, 0.9},
                                         {"b", 90'000, 0.2},
                                         {"c", 200'000, 0.4},
                                         {"d", 60'000, 0.7},
                                         {"b", 210'000, 0.6},
                                         {"e", 170'000, 0.1}}) {
      const auto row = capture.activities.add();
      capture.activities.start_ns[row] = time;
      capture.activities.duration_ns[row] = ns + static_cast<Nanos>(random() % 4000);
      capture.activities.device[row] = device;
      capture.activities.name[row] = capture.strings.intern(name);
      spans.push_back({{time, time + capture.activities.duration_ns[row]}, rate});
      time = spans.back().first.end + 1500;
    }
    time += static_cast<Nanos>(random() % 60'000);
  }
  std::size_t first = 0;
  for (Nanos from = 1'000'000'000; from + 200'000 < time; from += 200'000) {
    double covered = 0, value = 0;
    while (spans[first].first.end <= from) ++first;
    for (std::size_t i = first; i < spans.size() && spans[i].first.start < from + 200'000; ++i) {
      const double share = static_cast<double>(std::min(spans[i].first.end, from + 200'000) -
                                               std::max(spans[i].first.start, from)) /
                           200'000;
      covered += share;
      value += share * spans[i].second;
    }
    for (const auto& [id, counted] : {std::pair{busy, covered}, std::pair{issue, value}}) {
      const auto row = capture.counter_samples.add();
      capture.counter_samples.start_ns[row] = from;
      capture.counter_samples.duration_ns[row] = 200'000;
      capture.counter_samples.device[row] = device;
      capture.counter_samples.metric[row] = id;
      capture.counter_samples.value[row] = counted;
    }
  }
  const auto solved = solve_kernel_rates(capture, 0);
  ASSERT_EQ(solved.metrics.size(), 1u);
  for (std::size_t group = 0; group < solved.groups.size(); ++group) {
    const auto name = capture.text(capture.activities.name[solved.groups[group].first]);
    if (name == "b") {
      EXPECT_NEAR(solved.rates[0][group].value, (0.2 * 92 + 0.6 * 212) / 304, 0.01);
    }
    if (name == "c") {
      EXPECT_NEAR(solved.rates[0][group].value, 0.4, 0.01);
    }
  }
}

TEST(KernelRates, NoAnswerWhereSamplesAndKernelsDoNotFit) {
  World world = make_world(10, 0, 0, false, 3);
  for (std::size_t i = 0; i < world.capture.counter_samples.size(); ++i)
    world.capture.counter_samples.start_ns[i] +=
        500'000'000 + static_cast<Nanos>(i % 977) * 1'000'003;
  EXPECT_TRUE(solve_kernel_rates(world.capture, 0).metrics.empty());
  EXPECT_TRUE(solve_kernel_rates(Capture{}, 0).metrics.empty());
}

}  // namespace
}  // namespace gf
