#include "analyze/kernel_rates/kernel_rates.h"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "analyze/kernel_rates/align_samples.h"
#include "analyze/kernel_rates/columns.h"
#include "analyze/kernel_rates/mixed_fit.h"
#include "model/metric_id.h"
#include "model/metrics.h"

namespace gf {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kAbsolute = 0.1,
                 kRelative = 0.25;  // an interval narrower than either makes a rate resolvable
constexpr std::int64_t kLeastRows = 512;
// What a rate may differ by from the one that a profiler measures with the kernel alone, beyond
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

/// What the groups' means would move by, squared and summed, if each cluster's errors were one
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
  return boost::math::quantile(
      boost::math::students_t(static_cast<double>(std::max<std::int64_t>(places - 1, 3))), 0.975);
}

/// Everything about the system but the metrics' values.
struct Prepared {
  System system;
  MatrixXd gram, weights;
};

Prepared prepare(const Capture& capture, const KernelColumns& columns,
                 const AlignedSamples& samples) {
  Prepared prepared{overlay(capture, columns, samples.rows), {}, {}};
  const auto width = static_cast<Index>(columns.group_of_column.size());
  prepared.gram = MatrixXd::Zero(width, width);
  prepared.weights = MatrixXd::Zero(columns.kept, width);
  const auto& equations = prepared.system;
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

MixedFit fit_metric(const Prepared& prepared, const KernelColumns& columns,
                    const AlignedSamples& samples, std::size_t metric) {
  VectorXd moments = VectorXd::Zero(prepared.gram.rows());
  double squares = 0;
  for (std::size_t row = 0; row < prepared.system.rows(); ++row) {
    const double value = samples.rows[row].values[metric];
    squares += value * value;
    for (auto i = prepared.system.begin[row]; i < prepared.system.begin[row + 1]; ++i)
      moments[static_cast<Index>(prepared.system.entries[i].column)] +=
          prepared.system.entries[i].share * value;
  }
  return mixed_fit(prepared.gram, moments, squares,
                   static_cast<std::int64_t>(prepared.system.rows()), columns.group_of_column,
                   prepared.weights);
}

/// What the model leaves of each sample.
VectorXd errors_of(const Prepared& prepared, const AlignedSamples& samples, std::size_t metric,
                   const VectorXd& rates) {
  VectorXd errors(static_cast<Index>(prepared.system.rows()));
  for (std::size_t row = 0; row < prepared.system.rows(); ++row) {
    double error = samples.rows[row].values[metric];
    for (auto i = prepared.system.begin[row]; i < prepared.system.begin[row + 1]; ++i)
      error -= prepared.system.entries[i].share *
               rates[static_cast<Index>(prepared.system.entries[i].column)];
    errors[static_cast<Index>(row)] = error;
  }
  return errors;
}

/// The metrics whose pattern aligns samples and kernels best: all-SM levels that change from kernel
/// to kernel.
void refine(const Capture& capture, const KernelColumns& columns, AlignedSamples& samples) {
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
      const VectorXd rates = fit_metric(prepared, columns, samples, metric).x;
      solved.push_back({metric, {rates.data(), rates.data() + rates.size()}});
    }
    refine_alignment(capture, columns.column_of, solved, samples);
  }
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
  refine(capture, columns, samples);
  out.shift_ns = samples.shift_ns;
  out.fit_of_shift = samples.correlation;
  out.samples = static_cast<std::int64_t>(samples.rows.size());
  const Prepared prepared = prepare(capture, columns, samples);
  for (std::size_t index = 0; index < samples.metrics.size(); ++index) {
    const MixedFit fit = fit_metric(prepared, columns, samples, index);
    const VectorXd errors = errors_of(prepared, samples, index, fit.x);
    // A sample is wrong by what the model misses at its two edges (a kernel cut there is not even
    // over its length) and by what it misses of the kernel that fills it. The three are added as if
    // independent: towards too wide.
    VectorXd variance = fit.variance;
    for (const auto* cluster :
         {&prepared.system.at_start, &prepared.system.at_end, &prepared.system.dominant})
      variance += clustered_variance(prepared.system, errors, *cluster, fit.reach);

    double squares = 0;
    for (const auto& row : samples.rows) squares += row.values[index] * row.values[index];
    out.metrics.push_back(samples.metrics[index]);
    out.explained.push_back(squares > 0 ? 1 - fit.residual / squares : 0);
    const auto* metric = find_metric(capture.text(out.metrics.back()));
    const bool ratio = metric && metric->unit == "ratio";
    const VectorXd means = (prepared.weights * fit.x).cwiseMax(0);
    double scale = 1;
    if (!ratio)
      scale = means.maxCoeff();  // of a count: what makes an absolute bound on its interval
    auto& rates = out.rates.emplace_back(out.groups.size());
    for (std::size_t group = 0; group < columns.kept; ++group) {
      auto& rate = rates[group];
      if (ratio) {
        rate.value = std::min(means[static_cast<Index>(group)], 1.0);
      } else {
        rate.value = means[static_cast<Index>(group)];
      }
      rate.half_width = quantile95(columns.places[group]) *
                        std::sqrt(variance[static_cast<Index>(group)] +
                                  kModelError * kModelError * rate.value * rate.value);
      rate.resolvable = out.samples >= kLeastRows && (rate.half_width <= kAbsolute * scale ||
                                                      rate.half_width <= kRelative * rate.value);
    }
  }
  return out;
}

}  // namespace gf
