#include <gtest/gtest.h>

#include "core/machine.h"

namespace gf {
namespace {

constexpr const char* kMeminfo =
    "MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:    4000000 kB\n";

TEST(MemoryLeft, OfTheMachine) {
  const auto memory = memory_left(kMeminfo, "", "");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->left, 4'000'000ull * 1024);
  EXPECT_FALSE(memory->runs_out());
  EXPECT_TRUE(memory_left("MemTotal: 100 kB\nMemAvailable: 4 kB\n", "", "")->runs_out());
}

TEST(MemoryLeft, OfTheControlGroupWhereItHasLess) {
  EXPECT_EQ(memory_left(kMeminfo, "max\n", "1000\n")->left, 4'000'000ull * 1024);
  const auto group = memory_left(kMeminfo, "1000000\n", "990000\n");
  EXPECT_EQ(group->left, 10'000u);
  EXPECT_TRUE(group->runs_out());
  EXPECT_EQ(memory_left(kMeminfo, "1000\n", "2000\n")->left, 0u) << "above its bound for a moment";
  EXPECT_EQ(memory_left("", "1000\n", "400\n")->left, 600u);
}

TEST(MemoryLeft, IsNotGuessed) {
  EXPECT_FALSE(memory_left("", "", ""));
  EXPECT_FALSE(memory_left("nonsense", "max", "x"));
  EXPECT_TRUE(memory_left());
}

}  // namespace
}  // namespace gf
