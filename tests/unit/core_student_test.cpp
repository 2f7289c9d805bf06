#include <gtest/gtest.h>

#include "core/statistics.h"

namespace gf {
namespace {

TEST(Student, QuantilesAreThoseOfTables) {
  // scipy.stats.t.ppf(0.975, degrees) of SciPy 1.17.1.
  constexpr struct {
    std::int64_t degrees;
    double quantile;
  } kKnown[] = {{1, 12.706204736174694},       {2, 4.302652729749462},
                {3, 3.1824463052837078},       {4, 2.7764451051977934},
                {5, 2.5705818356363146},       {6, 2.4469118511449786},
                {7, 2.364624251592784},        {9, 2.262157162798205},
                {10, 2.228138851986274},       {15, 2.131449545559776},
                {30, 2.0422724563012378},      {50, 2.008559112100761},
                {99, 1.9842169515864174},      {100, 1.9839715185235518},
                {199, 1.9719565442517533},     {1000, 1.9623390808264083},
                {100'000, 1.9599877075346095}, {1'000'000'000, 1.959963986912325}};
  for (const auto& known : kKnown)
    EXPECT_NEAR(student_quantile95(known.degrees), known.quantile, 1e-12 * known.quantile)
        << known.degrees;
}

TEST(Student, TheWiderIntervalsToo) {
  // Printed tables of the 99.5 % quantile.
  EXPECT_NEAR(student_quantile99(1), 63.657, 1e-3);
  EXPECT_NEAR(student_quantile99(3), 5.841, 1e-3);
  EXPECT_NEAR(student_quantile99(10), 3.169, 1e-3);
  EXPECT_NEAR(student_quantile99(1'000'000'000), 2.576, 1e-3);
}

TEST(Student, QuantilesFallWithDegreesOfFreedom) {
  for (std::int64_t degrees = 2; degrees < 1000; ++degrees)  // over the border of the two ways too
    EXPECT_LT(student_quantile95(degrees), student_quantile95(degrees - 1)) << degrees;
}

}  // namespace
}  // namespace gf
