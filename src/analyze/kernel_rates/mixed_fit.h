// Least squares for unknowns that come in groups: each is its group's mean and a deviation, and how
// large deviations are is learnt from the data (a mixed-effects model, fitted by its evidence).
// Sparse data falls back on the groups' means, plenty of it tells every member apart, and the doubt
// about a group's mean holds what its members may differ by.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

namespace gf {

struct MixedFit {
  Eigen::VectorXd x;    // by column, may be slightly negative
  double noise = 0;     // variance of one row's error
  double spread = 0;    // standard deviation of members about their group's mean, as a share of it
  double residual = 0;  // |A x - b|^2
  Eigen::MatrixXd reach;     // groups x columns: what A'(b - A x) moves the groups' means by
  Eigen::VectorXd variance;  // of the groups' means, if the model holds
};

/// From the sums of a system: gram = A'A, moments = A'b, squares = b'b of `rows` rows. `weights`:
/// groups x columns, rows that sum to one over the columns of their group. `group_of` may hold one
/// more group than `weights` has rows: nobody asks for its mean.
MixedFit mixed_fit(const Eigen::MatrixXd& gram, const Eigen::VectorXd& moments, double squares,
                   std::int64_t rows, const std::vector<std::uint32_t>& group_of,
                   const Eigen::MatrixXd& weights);

}  // namespace gf
