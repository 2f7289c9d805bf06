// Least squares with coefficients that cannot be negative: energies, rates.
#pragma once

#include <Eigen/Dense>
#include <vector>

namespace gf {

struct NonNegativeFit {
  Eigen::VectorXd x;         // coefficients, >= 0
  std::vector<bool> free;    // false where a coefficient is at its bound of 0
  double residual_norm = 0;  // |A x - b|
  bool converged = false;
};

/// Minimizes |A x - b| over x >= 0 (Lawson and Hanson, Solving Least Squares Problems, 1974, ch.
/// 23). A: rows x columns, b: rows. Columns are scaled inside, so units may differ widely.
NonNegativeFit nonnegative_least_squares(const Eigen::MatrixXd& A, const Eigen::VectorXd& right);

}  // namespace gf
