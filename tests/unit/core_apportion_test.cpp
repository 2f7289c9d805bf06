#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

#include "core/apportion.h"
#include "core/text.h"

namespace gf {
namespace {

std::vector<std::int64_t> split(std::int64_t total, std::vector<double> weights) {
  return apportion(total, weights);
}

TEST(Apportion, LargestRemainder) {
  EXPECT_EQ(split(10, {1, 1, 1}), (std::vector<std::int64_t>{4, 3, 3}));
  EXPECT_EQ(split(100, {0.5, 0.25, 0.25}), (std::vector<std::int64_t>{50, 25, 25}));
  EXPECT_EQ(split(7, {0, 1, 0}), (std::vector<std::int64_t>{0, 7, 0}));
  EXPECT_EQ(split(1, {1, 2}), (std::vector<std::int64_t>{0, 1}));
}

TEST(Apportion, Edges) {
  EXPECT_TRUE(split(5, {}).empty());
  EXPECT_EQ(split(0, {1, 2}), (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(split(5, {0, 0}), (std::vector<std::int64_t>{5, 0}));
  EXPECT_EQ(split(5, {NAN, -1, 1}), (std::vector<std::int64_t>{0, 0, 5}));
  const auto big = split(INT64_MAX, {1, 1, 1});
  EXPECT_EQ(big[0] + big[1] + big[2], INT64_MAX);
}

TEST(Glob, PairsOfLettersRuleOutNothingThatIsThere) {
  std::uint32_t state = 1;
  const auto random = [&](std::uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  };
  int held = 0, ruled_out = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text, pattern;
    for (auto left = random(12); left > 0; --left) text += static_cast<char>('a' + random(4));
    for (auto left = random(5); left > 0; --left) pattern += "abcd*"[random(5)];
    pattern = "*" + pattern + "*";
    const bool may = LetterPairs(text).may_hold(pattern);
    EXPECT_TRUE(may || !glob_match(pattern, text)) << pattern << " in " << text;
    held += glob_match(pattern, text);
    ruled_out += !may;
  }
  EXPECT_GT(held, 1000);
  EXPECT_GT(ruled_out, 1000);
}

TEST(Glob, StarsAndText) {
  EXPECT_TRUE(glob_match("a*c", "abbbc"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("*b*", "abc"));
  EXPECT_TRUE(glob_match("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(glob_match("a*c", "abcd"));
  EXPECT_FALSE(glob_match("", "a"));
}

}  // namespace
}  // namespace gf
