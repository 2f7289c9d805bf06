#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/machine.h"
#include "core/pipeline.h"

namespace gf {

TEST(Pipeline, MergesInOrderWhateverFinishesFirst) {
  for (const unsigned workers : {1u, 2u, 5u}) {
    std::deque<int> slots(workers + 2);
    std::vector<int> merged;
    int next = 0;
    run_in_order(
        slots, workers,
        [&](int& slot) {
          slot = next;
          return next++ < 200;
        },
        [](int& slot, unsigned) {
          if (slot % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
          slot *= 2;
        },
        [&](int& slot) { merged.push_back(slot); });
    ASSERT_EQ(merged.size(), 200u);
    for (int i = 0; i < 200; ++i) EXPECT_EQ(merged[static_cast<std::size_t>(i)], 2 * i);
  }
}

TEST(Pipeline, WorksOnTwoItemsAtOnce) {
  std::deque<int> slots(4);
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  int next = 0;
  run_in_order(
      slots, 2, [&](int&) { return next++ < 2; },
      [&](int&, unsigned) {
        ++inside;
        for (int i = 0; i < 5000 && inside < 2; ++i)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (inside == 2) met = true;
      },
      [](int&) {});
  EXPECT_TRUE(met);
}

TEST(Pipeline, PassesOnTheFirstException) {
  for (const int where : {0, 1, 2}) {
    std::deque<int> slots(3);
    int next = 0;
    auto maybe_throw = [&](int stage, int item) {
      if (stage == where && item == 5) throw std::runtime_error("five");
    };
    EXPECT_THROW(run_in_order(
                     slots, 2,
                     [&](int& slot) {
                       maybe_throw(0, next);
                       slot = next;
                       return next++ < 50;
                     },
                     [&](int& slot, unsigned) { maybe_throw(1, slot); },
                     [&](int& slot) { maybe_throw(2, slot); }),
                 std::runtime_error);
  }
}

#if defined(__linux__)
TEST(Cores, AreThoseThatTheProcessMayUse) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(usable_cores(), static_cast<unsigned>(CPU_COUNT(&before)));
  CPU_ZERO(&one);
  for (std::size_t cpu_count = 0; cpu_count < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu_count)
    if (CPU_ISSET(cpu_count, &before)) CPU_SET(cpu_count, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cores(), 1u);
  sched_setaffinity(0, sizeof before, &before);
}
#endif

}  // namespace gf
