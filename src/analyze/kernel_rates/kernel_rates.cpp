#include "analyze/kernel_rates/kernel_rates.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/kernel_rates/align_samples.h"
#include "analyze/kernel_rates/columns.h"
#include "analyze/kernel_rates/sample_reader.h"
#include "analyze/nnls.h"
#include "core/statistics.h"
#include "model/capture.h"
#include "model/metrics.h"

namespace gf {

namespace {

class SmClock {
 public:
  /// Makes shares of SM cycles in `samples` shares of cycles at the mean clock. Nothing is changed
  /// where cycles were not counted with every sample.
  SmClock(const Capture& capture, AlignedSamples& samples);

  /// The metric that counts cycles.
  std::optional<std::size_t> metric() const { return metric_; }
  /// The fitted value of a sample that kernels cover in part: cycles pass without kernels, too.
  double fitted(std::size_t metric, double value, double covered) const {
    return metric_ == metric ? value * covered : value;
  }
  bool is_share_of_cycles(std::size_t metric) const { return metric_ && shares_[metric]; }
  /// A kernel's clock over the mean clock; `rate` and its standard error as fitted. A clock that is
  /// hardly known is taken to be near the mean, as clocks are.
  double relative(double rate, double error) const;

 private:
  std::optional<std::size_t> metric_;
  std::vector<bool> shares_;  // by metric
  double mean_ = 0;           // cycles a nanosecond
};

// Spread of kernels' clocks at a power limit: 1.6 to 1.98 GHz on an H200.
constexpr double kSpread = 0.08;

bool is_share_of_sm_cycles(std::string_view id) {
  const Metric* metric = find_metric(id);
  return metric && metric->unit == "ratio" && counted_in_sms(id);
}

SmClock::SmClock(const Capture& capture, AlignedSamples& samples) {
  const auto index_of = [&](const char* id) {
    return std::find(samples.metrics.begin(), samples.metrics.end(), capture.strings.find(id));
  };
  const auto cycles = index_of("sm.cycles"_metric);
  if (cycles == samples.metrics.end() || samples.rows.empty()) return;
  const auto at = static_cast<std::size_t>(cycles - samples.metrics.begin());
  double sum = 0;
  for (const auto& row : samples.rows) {
    if (row.values[at] <= 0) return;
    sum += row.values[at];
  }
  metric_ = at;
  mean_ = sum / static_cast<double>(samples.rows.size());
  shares_.assign(samples.metrics.size(), false);
  for (std::size_t metric = 0; metric < samples.metrics.size(); ++metric) {
    if (!is_share_of_sm_cycles(capture.text(samples.metrics[metric]))) continue;
    shares_[metric] = true;
    for (auto& row : samples.rows) row.values[metric] *= row.values[at] / mean_;
  }
}

double SmClock::relative(double rate, double error) const {
  const double off = rate / mean_ - 1, unsure = error / mean_;
  return 1 + off * kSpread * kSpread / (kSpread * kSpread + unsure * unsure);
}

struct MixedFit {
  Eigen::VectorXd x;    // by column, may be slightly negative
  double noise = 0;     // variance of one row's error
  double spread = 0;    // standard deviation of members about their group's mean, as a share of it
  double residual = 0;  // |A x - b|^2
  Eigen::MatrixXd reach;     // groups x columns: what A'(b - A x) moves the groups' means by
  Eigen::VectorXd variance;  // of the groups' means, if the model holds
};

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

/// From the sums of a system: gram = A'A, moments = A'b, squares = b'b of `rows` rows. `weights`:
/// groups x columns, rows that sum to one over the columns of their group. `group_of` may hold one
/// more group than `weights` has rows: nobody asks for its mean.
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

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kAbsolute = 0.1,
                 kRelative = 0.25;  // an interval narrower than either makes a rate resolvable
constexpr std::int64_t kLeastRows = 512;
// Difference of a rate from the one that a profiler measures with the kernel alone, beyond
// what the recording can show: standard deviation as a share of it. docs/record.md says how it was
// found and checked.
constexpr double kModelError = 0.03;
constexpr int kRefinements = 2;

/// The system: each sample is the sum of its columns' rates, weighted with their shares of it.
struct System {
  struct Entry {
    std::uint32_t column;
    double share;
  };
  std::vector<Entry> entries;
  std::vector<std::size_t> begin{0};  // of each row's entries, and the end of the last one's
  std::vector<std::uint32_t> at_start, at_end,
      dominant;  // by row: the columns that its edges fall into, and the one with most of it
  std::size_t rows() const { return begin.size() - 1; }
};

System overlay(const Capture& capture, const KernelColumns& columns,
               const std::vector<AlignedSamples::Row>& samples) {
  const auto& activities = capture.activities;
  std::vector<std::uint32_t> kernels;
  for (std::uint32_t row = 0; row < activities.size(); ++row)
    if (columns.column_of[row] != kNoRow) kernels.push_back(row);
  std::sort(kernels.begin(), kernels.end(), [&](auto left, auto right) {
    return activities.start_ns[left] < activities.start_ns[right];
  });
  System equations;
  std::vector<double> shares(columns.group_of_column.size(), 0);
  std::vector<std::uint32_t> used;
  std::size_t first = 0;
  for (const auto& sample : samples) {
    // Long kernels may reach over later starts, so `first` moves on only past kernels that ended
    // before every later sample.
    while (first < kernels.size() &&
           activities.start_ns[kernels[first]] + activities.duration_ns[kernels[first]] <=
               sample.span.start)
      ++first;
    used.clear();
    std::uint32_t start = 0, end = 0, dominant = 0;
    for (std::size_t i = first;
         i < kernels.size() && activities.start_ns[kernels[i]] < sample.span.end; ++i) {
      const auto row = kernels[i];
      const Nanos overlap =
          std::min(activities.start_ns[row] + activities.duration_ns[row], sample.span.end) -
          std::max(activities.start_ns[row], sample.span.start);
      if (overlap <= 0) continue;
      const auto column = columns.column_of[row];
      if (used.empty()) start = dominant = column;
      end = column;
      if (shares[column] == 0) used.push_back(column);
      shares[column] += static_cast<double>(overlap) / static_cast<double>(sample.span.length());
      if (shares[column] > shares[dominant]) dominant = column;
    }
    for (const auto column : used) {
      equations.entries.push_back({column, shares[column]});
      shares[column] = 0;
    }
    equations.begin.push_back(equations.entries.size());
    equations.at_start.push_back(start);
    equations.at_end.push_back(end);
    equations.dominant.push_back(dominant);
  }
  return equations;
}

/// The squared and summed shift of the groups' means, if each cluster's errors were one
/// draw: what is wrong with the model at one place of the step is wrong there in every step, so
/// rows are no independent witnesses but places are.
VectorXd clustered_variance(const System& equations, const VectorXd& errors,
                            const std::vector<std::uint32_t>& cluster, const MatrixXd& reach) {
  const Index columns = reach.cols();
  MatrixXd sums = MatrixXd::Zero(columns, columns);  // A'e of each cluster, a column each
  for (std::size_t row = 0; row < equations.rows(); ++row)
    for (auto i = equations.begin[row]; i < equations.begin[row + 1]; ++i)
      sums(static_cast<Index>(equations.entries[i].column), static_cast<Index>(cluster[row])) +=
          equations.entries[i].share * errors[static_cast<Index>(row)];
  return (reach * sums).rowwise().squaredNorm();
}

/// Student's quantile for a two-sided 95 % interval whose variance comes from so many places.
double quantile95(std::int64_t places) {
  return student_quantile95(std::max<std::int64_t>(places - 1, 3));
}

/// Everything about the system but the metrics' values.
struct Prepared {
  System system;
  MatrixXd gram, weights;
  std::vector<double> covered;  // by row: share of it in which kernels ran
};

Prepared prepare(const Capture& capture, const KernelColumns& columns,
                 const AlignedSamples& samples) {
  Prepared prepared{overlay(capture, columns, samples.rows), {}, {}, {}};
  const auto width = static_cast<Index>(columns.group_of_column.size());
  prepared.gram = MatrixXd::Zero(width, width);
  prepared.weights = MatrixXd::Zero(columns.kept, width);
  const auto& equations = prepared.system;
  prepared.covered.assign(equations.rows(), 0);
  for (std::size_t row = 0; row < equations.rows(); ++row)
    for (auto i = equations.begin[row]; i < equations.begin[row + 1]; ++i)
      prepared.covered[row] += equations.entries[i].share;
  for (std::size_t row = 0; row < equations.rows(); ++row)
    for (auto i = equations.begin[row]; i < equations.begin[row + 1]; ++i)
      for (auto j = equations.begin[row]; j < equations.begin[row + 1]; ++j)
        prepared.gram(static_cast<Index>(equations.entries[i].column),
                      static_cast<Index>(equations.entries[j].column)) +=
            equations.entries[i].share * equations.entries[j].share;
  for (Index column = 0; column < width; ++column)
    if (const auto group_of_column = columns.group_of_column[static_cast<std::size_t>(column)];
        group_of_column < columns.kept)
      prepared.weights(group_of_column, column) =
          columns.ns[static_cast<std::size_t>(column)] /
          static_cast<double>(std::max<Nanos>(columns.groups[group_of_column].ns, 1));
  return prepared;
}

/// One metric of every row, as it is fitted.
VectorXd fitted_values(const Prepared& prepared, const AlignedSamples& samples,
                       const SmClock& clock, std::size_t metric) {
  VectorXd values(static_cast<Index>(samples.rows.size()));
  for (std::size_t row = 0; row < samples.rows.size(); ++row)
    values[static_cast<Index>(row)] =
        clock.fitted(metric, samples.rows[row].values[metric], prepared.covered[row]);
  return values;
}

MixedFit fit_metric(const Prepared& prepared, const KernelColumns& columns,
                    const VectorXd& values) {
  VectorXd moments = VectorXd::Zero(prepared.gram.rows());
  for (std::size_t row = 0; row < prepared.system.rows(); ++row)
    for (auto i = prepared.system.begin[row]; i < prepared.system.begin[row + 1]; ++i)
      moments[static_cast<Index>(prepared.system.entries[i].column)] +=
          prepared.system.entries[i].share * values[static_cast<Index>(row)];
  return mixed_fit(prepared.gram, moments, values.squaredNorm(),
                   static_cast<std::int64_t>(prepared.system.rows()), columns.group_of_column,
                   prepared.weights);
}

/// The residual of each sample.
VectorXd errors_of(const Prepared& prepared, const VectorXd& values, const VectorXd& rates) {
  VectorXd errors = values;
  for (std::size_t row = 0; row < prepared.system.rows(); ++row)
    for (auto i = prepared.system.begin[row]; i < prepared.system.begin[row + 1]; ++i)
      errors[static_cast<Index>(row)] -=
          prepared.system.entries[i].share *
          rates[static_cast<Index>(prepared.system.entries[i].column)];
  return errors;
}

/// The metrics whose pattern aligns samples and kernels best: all-SM levels that change from kernel
/// to kernel.
void refine(const Capture& capture, const KernelColumns& columns, const SmClock& clock,
            AlignedSamples& samples) {
  std::vector<std::size_t> guides;
  for (const char* id : {"sm.active_any"_metric, "issue.active"_metric})
    if (const auto it =
            std::find(samples.metrics.begin(), samples.metrics.end(), capture.strings.find(id));
        it != samples.metrics.end())
      guides.push_back(static_cast<std::size_t>(it - samples.metrics.begin()));
  for (int round = 0; round < kRefinements && !guides.empty(); ++round) {
    const Prepared prepared = prepare(capture, columns, samples);
    std::vector<SolvedMetric> solved;
    for (const auto metric : guides) {
      const VectorXd values = fitted_values(prepared, samples, clock, metric);
      const VectorXd rates = fit_metric(prepared, columns, values).x;
      solved.push_back({metric, {rates.data(), rates.data() + rates.size()}});
    }
    refine_alignment(capture, columns.column_of, solved, samples);
  }
}

/// A metric's mean rates, by group, and their standard errors.
struct FittedMeans {
  VectorXd mean, variance;
  double residual = 0, squares = 0;  // of all rows
};

FittedMeans fit_means(const Prepared& prepared, const KernelColumns& columns,
                      const VectorXd& values) {
  const Index kept = prepared.weights.rows();
  // Nothing was counted, so no kernel did any: links that no program uses.
  if (values.squaredNorm() == 0) return {VectorXd::Zero(kept), VectorXd::Zero(kept)};
  const MixedFit fit = fit_metric(prepared, columns, values);
  const VectorXd errors = errors_of(prepared, values, fit.x);
  FittedMeans out{(prepared.weights * fit.x).cwiseMax(0), fit.variance, fit.residual,
                  values.squaredNorm()};
  // A sample is wrong by what the model misses at its two edges (a kernel cut there is not even
  // over its length) and by what it misses of the kernel that fills it. The three are added as if
  // independent: towards too wide.
  for (const auto* cluster :
       {&prepared.system.at_start, &prepared.system.at_end, &prepared.system.dominant})
    out.variance += clustered_variance(prepared.system, errors, *cluster, fit.reach);
  return out;
}

/// Makes cycles over time shares of each kernel's own cycles.
void divide_by_clocks(const SmClock& clock, std::vector<FittedMeans>& fitted) {
  if (!clock.metric()) return;
  const FittedMeans& cycles = fitted[*clock.metric()];
  VectorXd clocks(cycles.mean.size());
  for (Index group = 0; group < clocks.size(); ++group)
    clocks[group] = clock.relative(cycles.mean[group], std::sqrt(cycles.variance[group]));
  for (std::size_t metric = 0; metric < fitted.size(); ++metric) {
    if (!clock.is_share_of_cycles(metric)) continue;
    fitted[metric].mean = fitted[metric].mean.cwiseQuotient(clocks);
    fitted[metric].variance = fitted[metric].variance.cwiseQuotient(clocks.cwiseProduct(clocks));
  }
}

/// The rates of one metric, of which counts have no scale but their largest.
std::vector<KernelRate> rates_of(const KernelColumns& columns, const FittedMeans& fitted,
                                 bool ratio, std::int64_t samples) {
  double scale = ratio ? 1 : fitted.mean.maxCoeff();
  std::vector<KernelRate> rates(columns.groups.size());
  for (std::size_t group = 0; group < columns.kept; ++group) {
    auto& rate = rates[group];
    const auto at = static_cast<Index>(group);
    rate.value = fitted.mean[at];
    if (ratio) rate.value = std::min(rate.value, 1.0);
    rate.half_width =
        quantile95(columns.places[group]) *
        std::sqrt(fitted.variance[at] + kModelError * kModelError * rate.value * rate.value);
    rate.resolvable = samples >= kLeastRows && (rate.half_width <= kAbsolute * scale ||
                                                rate.half_width <= kRelative * rate.value);
  }
  return rates;
}

}  // namespace

KernelRates solve_kernel_rates(const Capture& capture, std::uint32_t device) {
  KernelRates out;
  const KernelColumns columns = kernel_columns(capture, device);
  out.groups = columns.groups;
  out.group_of = columns.group_of;
  if (out.groups.empty()) return out;
  AlignedSamples samples = align_samples(capture, device);
  out.alignment = samples.found;
  if (samples.rows.empty() || samples.metrics.empty()) return out;
  const SmClock clock(capture, samples);
  refine(capture, columns, clock, samples);
  out.shift_ns = samples.shift_ns;
  out.fit_of_shift = samples.correlation;
  out.samples = static_cast<std::int64_t>(samples.rows.size());
  const Prepared prepared = prepare(capture, columns, samples);
  std::vector<FittedMeans> fitted;
  for (std::size_t metric = 0; metric < samples.metrics.size(); ++metric)
    fitted.push_back(fit_means(prepared, columns, fitted_values(prepared, samples, clock, metric)));
  divide_by_clocks(clock, fitted);
  out.metrics = samples.metrics;
  for (std::size_t index = 0; index < fitted.size(); ++index) {
    const FittedMeans& means = fitted[index];
    out.explained.push_back(means.squares > 0 ? 1 - means.residual / means.squares : 0);
    const auto* metric = find_metric(capture.text(out.metrics[index]));
    out.rates.push_back(rates_of(columns, means, metric && metric->unit == "ratio", out.samples));
  }
  return out;
}

}  // namespace gf
