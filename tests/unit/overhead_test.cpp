#include <gtest/gtest.h>

#include <vector>

#include "cli/live/overhead/run_way.h"

namespace gf::cli {
namespace {

TEST(Overhead, UtilizationIsOfTheTimeInWhichTheGpuIsUsed) {
  EXPECT_DOUBLE_EQ(mean_while_used(std::vector<double>{0.0, 0.0, 0.5, 0.0, 1.0, 0.0}), 0.5);
  EXPECT_DOUBLE_EQ(mean_while_used(std::vector<double>{0.25}), 0.25);
  EXPECT_DOUBLE_EQ(mean_while_used(std::vector<double>{0.0, 0.0}), 0);
  EXPECT_DOUBLE_EQ(mean_while_used(std::vector<double>{}), 0);
}

}  // namespace
}  // namespace gf::cli
