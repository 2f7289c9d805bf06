#include <gtest/gtest.h>

#include <random>
#include <unordered_map>
#include <utility>

#include "core/number_map.h"

namespace gf {
namespace {

TEST(NumberMap, HoldsWhatAnyMapHolds) {
  std::mt19937_64 random(1);
  for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{40}, std::uint64_t{5000}}) {
    NumberMap map;
    std::unordered_map<std::uint64_t, std::uint32_t> other;
    for (std::uint32_t turn = 0; turn < 20'000; ++turn) {
      // Keys that differ in their low or in their high half alone, 0 among them.
      const std::uint64_t key = random() % 2 == 0 ? random() % keys : (random() % keys) << 32;
      const auto* known = std::as_const(map).find(key);
      ASSERT_EQ(known != nullptr, other.contains(key));
      if (known) {
        ASSERT_EQ(*known, other.at(key));
      }
      const auto [number, fresh] = map.place(key);
      const auto [at, added] = other.try_emplace(key, turn);
      ASSERT_EQ(fresh, added);
      if (fresh) *number = turn;
      ASSERT_EQ(*number, at->second);
    }
  }
}

}  // namespace
}  // namespace gf
