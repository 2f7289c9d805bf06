#include "analyze/nnls.h"

namespace gf {

namespace {

/// Unconstrained least squares over the columns in `active`; the others are 0.
Eigen::VectorXd solve_on(const Eigen::MatrixXd& A, const Eigen::VectorXd& right,
                         const std::vector<bool>& active) {
  std::vector<Eigen::Index> columns;
  for (std::size_t j = 0; j < active.size(); ++j)
    if (active[j]) columns.push_back(static_cast<Eigen::Index>(j));
  Eigen::VectorXd solution = Eigen::VectorXd::Zero(A.cols());
  if (columns.empty()) return solution;
  Eigen::MatrixXd chosen(A.rows(), static_cast<Eigen::Index>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i)
    chosen.col(static_cast<Eigen::Index>(i)) = A.col(columns[i]);
  const Eigen::VectorXd part = chosen.colPivHouseholderQr().solve(right);
  for (std::size_t i = 0; i < columns.size(); ++i)
    solution[columns[i]] = part[static_cast<Eigen::Index>(i)];
  return solution;
}

}  // namespace

NonNegativeFit nonnegative_least_squares(const Eigen::MatrixXd& A, const Eigen::VectorXd& right) {
  const auto count = static_cast<std::size_t>(A.cols());
  Eigen::VectorXd scale = A.colwise().norm();
  for (auto& factor : scale) {
    if (!(factor > 0)) factor = 1;
  }
  const Eigen::MatrixXd S = A * scale.cwiseInverse().asDiagonal();

  NonNegativeFit fit;
  Eigen::VectorXd solution = Eigen::VectorXd::Zero(A.cols());
  const double tolerance = 1e-12 * right.norm();
  // Most coefficients are above 0, so all begin free; those that come out below leave, until none
  // does.
  fit.free.assign(count, true);
  for (bool below = true; below;) {
    solution = solve_on(S, right, fit.free);
    below = false;
    for (std::size_t j = 0; j < count; ++j) {
      if (!fit.free[j] || solution[static_cast<Eigen::Index>(j)] > 0) continue;
      fit.free[j] = false;
      below = true;
    }
  }
  for (std::size_t round = 0; round < 10 * count + 10; ++round) {
    // The bound coefficient whose release lowers the residual most.
    const Eigen::VectorXd gradient = S.transpose() * (right - S * solution);
    std::size_t best = count;
    for (std::size_t j = 0; j < count; ++j)
      if (!fit.free[j] && gradient[static_cast<Eigen::Index>(j)] > tolerance &&
          (best == count ||
           gradient[static_cast<Eigen::Index>(j)] > gradient[static_cast<Eigen::Index>(best)]))
        best = j;
    if (best == count) {
      fit.converged = true;
      break;
    }
    fit.free[best] = true;
    Eigen::VectorXd trial = solve_on(S, right, fit.free);
    // Walk back to the first coefficient that would go negative and put it on its bound, until none
    // would.
    for (std::size_t inner = 0; inner <= count; ++inner) {
      double step = 1;
      for (std::size_t j = 0; j < count; ++j) {
        const auto index = static_cast<Eigen::Index>(j);
        if (fit.free[j] && trial[index] <= 0)
          step = std::min(step, solution[index] / (solution[index] - trial[index]));
      }
      if (step >= 1) break;
      solution += step * (trial - solution);
      for (std::size_t j = 0; j < count; ++j) {
        const auto index = static_cast<Eigen::Index>(j);
        if (fit.free[j] && solution[index] <= 1e-15) {
          solution[index] = 0;
          fit.free[j] = false;
        }
      }
      trial = solve_on(S, right, fit.free);
    }
    solution = trial.cwiseMax(0.0);
  }
  fit.x = solution.cwiseQuotient(scale);
  fit.residual_norm = (A * fit.x - right).norm();
  return fit;
}

}  // namespace gf
