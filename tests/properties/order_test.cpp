#include "core/order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gf {

RC_GTEST_PROP(SortNearlyOrdered, SortsBlocksInAnyOrder, (std::vector<std::vector<int>> blocks)) {
  std::vector<std::pair<int, std::size_t>> values;  // the position makes the order total
  for (auto& block : blocks) {
    if (*rc::gen::arbitrary<bool>()) std::sort(block.begin(), block.end());
    for (int value : block) values.push_back({value, values.size()});
  }
  auto expected = values;
  std::sort(expected.begin(), expected.end());
  sort_nearly_ordered(values.begin(), values.end(), std::less<>());
  RC_ASSERT(values == expected);
}

RC_GTEST_PROP(SortNearlyOrdered, MergesLongRuns, ()) {
  std::vector<int> values;
  const auto runs = *rc::gen::inRange(1, 9);
  for (int run = 0; run < runs; ++run) {
    const int from = *rc::gen::inRange(0, 5000), length = *rc::gen::inRange(0, 400);
    for (int i = 0; i < length; ++i)
      values.push_back((from + i) * 10 + run);  // distinct between runs
  }
  auto expected = values;
  std::sort(expected.begin(), expected.end());
  sort_nearly_ordered(values.begin(), values.end(), std::less<>());
  RC_ASSERT(values == expected);
}

}  // namespace gf
