// Steps found in kernel sequences that no mark divides: layers repeat inside a step, the first
// steps tune and warm up, and a kernel more or less appears now and then.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "analyze/steps/steps.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

struct PeriodicProgram {
  int steps, layers, layer_kernels, head, tail, prologue, tuning;
  double noise;
  bool input = true;  // a batch is copied to the device before each step
};

/// Step starts are returned in `starts`.
Capture run(const PeriodicProgram& program, unsigned seed, std::vector<Nanos>& starts) {
  std::mt19937 random(seed);
  auto chance = [&](double share) {
    return std::uniform_real_distribution<>(0, 1)(random) < share;
  };
  test::CaptureBuilder builder;
  Nanos now = 1'000'000;
  auto kernel = [&](const std::string& name) {
    if (chance(program.noise)) {
      builder.kernel("noise" + std::to_string(random() % 5), now, now + 500);
      now += 1000;
    }
    if (chance(program.noise)) return;
    const Nanos length = 1000 + static_cast<Nanos>(random() % 200);
    builder.kernel(name, now, now + length);
    now += length + 300 + static_cast<Nanos>(random() % 100);
  };
  for (int i = 0; i < program.prologue; ++i) kernel("setup" + std::to_string(random() % 7));
  for (int step = 0; step < program.steps; ++step) {
    now += 5000;  // the host prepares the next step
    starts.push_back(now);
    if (program.input)
      builder.copy(CopyKind::host_to_device, {now - 2000, now - 1000}, {now, now + 800});
    now += 1000;
    for (int i = 0; i < program.head; ++i) kernel("head" + std::to_string(i));
    for (int layer = 0; layer < program.layers; ++layer) {
      for (int i = 0; i < program.layer_kernels; ++i) kernel("layer" + std::to_string(i));
      if (step == 0)
        for (int i = 0; i < program.tuning; ++i)
          kernel("layer" + std::to_string(random() % static_cast<unsigned>(program.layer_kernels)));
    }
    for (int i = 0; i < program.tail; ++i) kernel("tail" + std::to_string(i % 3));
  }
  return std::move(builder.capture);
}

RC_GTEST_PROP(Period, IsTheStep, ()) {
  PeriodicProgram program{};
  program.steps = *rc::gen::inRange(3, 15);
  program.layers = *rc::gen::inRange(1, 24);
  program.layer_kernels = *rc::gen::inRange(4, 20);
  program.head = *rc::gen::inRange(3, 6);
  program.tail = *rc::gen::inRange(5, 9);
  const int per_step = program.head + program.tail + program.layers * program.layer_kernels;
  program.prologue = *rc::gen::inRange(0, per_step);
  program.tuning = *rc::gen::inRange(0, 4);
  std::vector<Nanos> starts;
  const Capture capture = run(program, *rc::gen::arbitrary<unsigned>(), starts);
  const Steps found = find_period(capture, {}, {}, Names(capture));
  RC_ASSERT(found.source == "period:" + std::to_string(per_step) + " kernels");
  RC_ASSERT(*found.confidence > 0.9);
  // The first step may differ when it tunes; all later ones are found where they begin.
  RC_ASSERT(found.steps.size() >= starts.size() - 1);
  for (std::size_t i = 1; i <= found.steps.size() && i <= starts.size(); ++i) {
    if (i < found.steps.size() && i < starts.size())
      RC_ASSERT(found.steps[found.steps.size() - i].start_ns == starts[starts.size() - i]);
  }
}

RC_GTEST_PROP(Period, SurvivesAKernelMoreOrLess, ()) {
  const PeriodicProgram program{*rc::gen::inRange(6, 15),
                                *rc::gen::inRange(2, 13),
                                *rc::gen::inRange(6, 12),
                                6,
                                9,
                                *rc::gen::inRange(0, 100),
                                2,
                                0.004};
  std::vector<Nanos> starts;
  const Capture capture = run(program, *rc::gen::arbitrary<unsigned>(), starts);
  const Steps found = find_period(capture, {}, {}, Names(capture));
  RC_ASSERT(*found.confidence > 0.8);
  RC_ASSERT(2 * found.steps.size() >=
            starts.size());  // neighbors that noise made unlike may be left out
  RC_ASSERT(found.steps.size() <= starts.size());
}

RC_GTEST_PROP(Period, IsOfBlocksWhereNothingShowsSteps, ()) {
  PeriodicProgram program{
      *rc::gen::inRange(3, 15), *rc::gen::inRange(1, 24), 6, 4, 6, 0, 0, 0, false};
  std::vector<Nanos> starts;
  const Capture capture = run(program, *rc::gen::arbitrary<unsigned>(), starts);
  const Steps found = find_period(capture, {}, {}, Names(capture));
  if (!found.steps.empty()) {  // ten equal blocks and more for most of the time prove themselves
    RC_ASSERT(found.sign == "equal kernels in order");
    RC_ASSERT(found.steps.size() >= 10U && found.steps.size() <= starts.size());
    return;
  }
  RC_ASSERT(found.source == "none");
  RC_ASSERT(found.blocks.count == program.steps);
  RC_ASSERT(found.blocks.kernels == program.head + program.tail + program.layers * 6);
}

/// Two short kernels again and again, fetched each time, in front of what takes the time.
Nanos add_probes(test::CaptureBuilder& builder, int probes) {
  Nanos now = 0;
  for (int i = 0; i < probes; ++i, now += 300'000) {
    builder.kernel("probe_product", now, now + 3'000);
    builder.kernel("probe_sum", now + 4'000, now + 6'000);
  }
  return now;
}

RC_GTEST_PROP(Period, ProvesItselfBehindManyShortKernels, ()) {
  const int kernels = *rc::gen::inRange(5, 16), steps = *rc::gen::inRange(210, 400);
  test::CaptureBuilder builder;
  Nanos now = add_probes(builder, *rc::gen::inRange(3 * steps * kernels / 4, steps * kernels));
  const auto start = now;
  for (int step = 0; step < steps; ++step)
    for (int kernel = 0; kernel < kernels; ++kernel, now += 150'000)
      builder.kernel(kernel + 1 == kernels ? "softmax"
                     : kernel % 2          ? "tanh"
                                           : "product",
                     now, now + 140'000);
  const Steps found = find_period(builder.capture, {}, {}, Names(builder.capture));
  RC_ASSERT(found.sign == "equal kernels in order");
  // Those at the ends may begin or end inside other work.
  RC_ASSERT(static_cast<int>(found.steps.size()) <= steps);
  RC_ASSERT(static_cast<int>(found.steps.size()) >= steps - 2);
  RC_ASSERT(found.steps.front().start_ns >= start - 300'000);
}

RC_GTEST_PROP(Period, IsNotOfShortKernelsInFrontOfOthers, ()) {
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  test::CaptureBuilder builder;
  Nanos now = add_probes(builder, 3000);
  for (int i = 0; i < 4000; ++i, now += 150'000)
    builder.kernel("k" + std::to_string(random() % 300), now, now + 140'000);
  RC_ASSERT(find_period(builder.capture, {}, {}, Names(builder.capture)).steps.empty());
}

TEST(Period, IsNotSeenWhereThereIsNone) {
  std::mt19937 random(1);
  test::CaptureBuilder builder;
  for (Nanos i = 0; i < 2000; ++i)
    builder.kernel("k" + std::to_string(random() % 300), i * 1000, i * 1000 + 800);
  EXPECT_EQ(find_period(builder.capture, {}, {}, Names(builder.capture)).source, "none");
  EXPECT_EQ(find_period(Capture{}, {}, {}, Names(Capture{})).source, "none");
}

}  // namespace
}  // namespace gf
