#include "analyze/kernel_rates/mixed_fit.h"

#include <algorithm>
#include <cmath>

#include "analyze/nnls.h"

namespace gf {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSpreads[] = {0.05, 0.15, 0.45};
constexpr double kLeastScale =
    0.02;  // of the largest mean: what groups whose mean is near 0 may deviate by

MatrixXd ridged(const MatrixXd& gram) {
  return gram + 1e-9 * std::max(gram.trace() / static_cast<double>(gram.rows()), 1e-30) *
                    MatrixXd::Identity(gram.rows(), gram.cols());
}

/// Means of the groups if all members were alike, none negative: the scale of the deviations.
VectorXd group_means(const MatrixXd& gram, const VectorXd& moments,
                     const std::vector<std::uint32_t>& group_of, Index groups) {
  MatrixXd normal = MatrixXd::Zero(groups, groups);
  VectorXd right = VectorXd::Zero(groups);
  for (Index i = 0; i < gram.rows(); ++i) {
    const auto gi = static_cast<Index>(group_of[static_cast<std::size_t>(i)]);
    right[gi] += moments[i];
    for (Index j = 0; j < gram.cols(); ++j)
      normal(gi, static_cast<Index>(group_of[static_cast<std::size_t>(j)])) += gram(i, j);
  }
  const Eigen::LLT<MatrixXd> factor(ridged(normal));
  return nonnegative_least_squares(MatrixXd(factor.matrixU()), factor.matrixL().solve(right)).x;
}

/// The precision of the members with the groups' means unknown, and its determinant's logarithm but
/// for a constant.
double prior_precision(const VectorXd& scale, const std::vector<std::uint32_t>& group_of,
                       Index groups, MatrixXd& out) {
  const VectorXd diagonal = scale.cwiseProduct(scale).cwiseInverse();
  VectorXd sums = VectorXd::Zero(groups);
  for (Index i = 0; i < diagonal.size(); ++i)
    sums[static_cast<Index>(group_of[static_cast<std::size_t>(i)])] += diagonal[i];
  // A group's mean is free but not infinitely so, or a group of one member would have no prior at
  // all.
  const double free = 1e-6 * diagonal.minCoeff();
  out = diagonal.asDiagonal();
  for (Index i = 0; i < diagonal.size(); ++i)
    for (Index j = 0; j < diagonal.size(); ++j)
      if (group_of[static_cast<std::size_t>(i)] == group_of[static_cast<std::size_t>(j)])
        out(i, j) -= diagonal[i] * diagonal[j] /
                     (sums[static_cast<Index>(group_of[static_cast<std::size_t>(i)])] + free);
  double log = diagonal.array().log().sum();
  for (Index group = 0; group < groups; ++group) log -= std::log((sums[group] + free) / free);
  return log;
}

}  // namespace

MixedFit mixed_fit(const MatrixXd& gram, const VectorXd& moments, double squares, std::int64_t rows,
                   const std::vector<std::uint32_t>& group_of, const MatrixXd& weights) {
  const Index columns = gram.rows();
  const Index groups = *std::max_element(group_of.begin(), group_of.end()) + Index{1};
  const VectorXd means = group_means(gram, moments, group_of, groups);
  VectorXd unit(columns);  // a deviation of 100 %
  for (Index i = 0; i < columns; ++i)
    unit[i] = std::max(means[static_cast<Index>(group_of[static_cast<std::size_t>(i)])],
                       std::max(kLeastScale * means.maxCoeff(), 1e-12));
  const auto count = static_cast<double>(rows);
  const double least_noise = std::max(squares / count * 1e-10, 1e-30);
  MixedFit best;
  double most = -HUGE_VAL, noise = squares / count * 1e-2;
  Eigen::LLT<MatrixXd> best_factor;
  for (const double spread : kSpreads) {
    MatrixXd prior;
    const double log_prior = prior_precision(spread * unit, group_of, groups, prior);
    VectorXd solution;
    double residual = 0;
    Eigen::LLT<MatrixXd> factor;
    // The noise and the fit depend on each other; the data outweighs the prior by far, so a few
    // rounds settle it.
    for (int round = 0;; ++round) {
      factor.compute(gram / noise + prior);
      solution = factor.solve(moments / noise);
      residual = std::max(squares - 2 * solution.dot(moments) + solution.dot(gram * solution), 0.0);
      if (round == 3) break;
      noise = std::max(residual / std::max(count - static_cast<double>(columns), 0.1 * count),
                       least_noise);
    }
    const double log_factor = 2 * MatrixXd(factor.matrixL()).diagonal().array().log().sum();
    const double evidence = -0.5 * (count * std::log(noise) + residual / noise +
                                    solution.dot(prior * solution) + log_factor - log_prior);
    if (evidence <= most) continue;
    most = evidence;
    best.x = solution;
    best.noise = noise;
    best.spread = spread;
    best.residual = residual;
    best_factor = factor;
  }
  const MatrixXd share = best_factor.solve(weights.transpose()).transpose();  // groups x columns
  best.variance = share.cwiseProduct(weights).rowwise().sum();
  best.reach = share / best.noise;
  return best;
}

}  // namespace gf
