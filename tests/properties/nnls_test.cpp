// The fit is optimal when it satisfies the Karush-Kuhn-Tucker conditions: no independent solver is
// needed as an oracle.
#include "analyze/nnls.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

namespace gf {

RC_GTEST_PROP(Nnls, SatisfiesTheOptimalityConditions, ()) {
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  std::normal_distribution<double> normal;
  const int rows = 5 + static_cast<int>(random() % 40),
            columns = 1 + static_cast<int>(random() % 8);
  Eigen::MatrixXd A(rows, columns);
  Eigen::VectorXd right(rows);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j)
      A(i, j) = normal(random) * std::pow(10.0, j % 4 * 3);  // units far apart
    right[i] = normal(random);
  }
  const auto fit = nonnegative_least_squares(A, right);
  RC_ASSERT(fit.converged);
  const Eigen::VectorXd gradient = A.transpose() * (A * fit.x - right);
  for (int j = 0; j < columns; ++j) {
    const double scale = A.col(j).norm() * right.norm();
    RC_ASSERT(fit.x[j] >= 0);
    RC_ASSERT(gradient[j] >= -1e-8 * scale);                             // going up does not help
    if (fit.x[j] > 0) RC_ASSERT(std::abs(gradient[j]) <= 1e-8 * scale);  // nor down
  }
}

TEST(Nnls, RecoversKnownCoefficients) {
  Eigen::MatrixXd A(4, 2);
  A << 1, 0, 0, 1e9, 1, 1e9, 2, 1e9;
  const Eigen::Vector2d truth(3, 2e-9);
  const auto fit = nonnegative_least_squares(A, A * truth);
  EXPECT_NEAR(fit.x[0], 3, 1e-12);
  EXPECT_NEAR(fit.x[1], 2e-9, 1e-20);
  EXPECT_NEAR(fit.residual_norm, 0, 1e-9);
}

}  // namespace gf
