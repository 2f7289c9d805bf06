#include "analyze/nnls.h"

namespace gf {

namespace {

/// Unconstrained least squares over the columns in `active`; the others are 0.
Eigen::VectorXd solve_on(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                         const std::vector<bool>& active) {
  std::vector<Eigen::Index> columns;
  for (std::size_t j = 0; j < active.size(); ++j)
    if (active[j]) columns.push_back(static_cast<Eigen::Index>(j));
  Eigen::VectorXd x = Eigen::VectorXd::Zero(A.cols());
  if (columns.empty()) return x;
  const Eigen::VectorXd part = A(Eigen::all, columns).colPivHouseholderQr().solve(b);
  for (std::size_t i = 0; i < columns.size(); ++i)
    x[columns[i]] = part[static_cast<Eigen::Index>(i)];
  return x;
}

}  // namespace

NonNegativeFit nonnegative_least_squares(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  const auto n = static_cast<std::size_t>(A.cols());
  Eigen::VectorXd scale = A.colwise().norm();
  for (auto& s : scale) s = s > 0 ? s : 1;
  const Eigen::MatrixXd S = A * scale.cwiseInverse().asDiagonal();

  NonNegativeFit fit;
  fit.free.assign(n, false);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(A.cols());
  const double tolerance = 1e-12 * b.norm();
  for (std::size_t round = 0; round < 10 * n + 10; ++round) {
    // The bound coefficient whose release lowers the residual most.
    const Eigen::VectorXd gradient = S.transpose() * (b - S * x);
    std::size_t best = n;
    for (std::size_t j = 0; j < n; ++j)
      if (!fit.free[j] && gradient[static_cast<Eigen::Index>(j)] > tolerance &&
          (best == n ||
           gradient[static_cast<Eigen::Index>(j)] > gradient[static_cast<Eigen::Index>(best)]))
        best = j;
    if (best == n) {
      fit.converged = true;
      break;
    }
    fit.free[best] = true;
    Eigen::VectorXd trial = solve_on(S, b, fit.free);
    // Walk back to the first coefficient that would go negative and put it on its bound, until none
    // would.
    for (std::size_t inner = 0; inner <= n; ++inner) {
      double step = 1;
      for (std::size_t j = 0; j < n; ++j) {
        const auto i = static_cast<Eigen::Index>(j);
        if (fit.free[j] && trial[i] <= 0) step = std::min(step, x[i] / (x[i] - trial[i]));
      }
      if (step >= 1) break;
      x += step * (trial - x);
      for (std::size_t j = 0; j < n; ++j) {
        const auto i = static_cast<Eigen::Index>(j);
        if (fit.free[j] && x[i] <= 1e-15) {
          x[i] = 0;
          fit.free[j] = false;
        }
      }
      trial = solve_on(S, b, fit.free);
    }
    x = trial.cwiseMax(0.0);
  }
  fit.x = x.cwiseQuotient(scale);
  fit.residual_norm = (A * fit.x - b).norm();
  return fit;
}

}  // namespace gf
