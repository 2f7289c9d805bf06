// Energy of spans, and of kinds of steps that are shorter than the sensor's updates.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <set>

#include "analyze/serving/parts.h"

namespace gf::serving {

namespace {

constexpr std::size_t kOutside = kStepKinds;  // in the place of a kind: between steps

/// Seconds of each kind, and outside of steps, between two moments.
Eigen::RowVectorXd seconds_by_kind(const std::vector<EngineStep>& steps, Interval span) {
  Eigen::RowVectorXd seconds = Eigen::RowVectorXd::Zero(kStepKinds + 1);
  double outside = static_cast<double>(span.length());
  auto step = std::ranges::upper_bound(steps, span.start, {}, &EngineStep::start_ns);
  if (step != steps.begin()) --step;
  for (; step != steps.end() && step->start_ns < span.end; ++step) {
    const auto both = static_cast<double>(std::min(span.end, span_of(*step).end) -
                                          std::max(span.start, step->start_ns));
    if (both <= 0) continue;
    seconds[static_cast<Eigen::Index>(step->kind)] += both * 1e-9;
    outside -= both;
  }
  seconds[kOutside] = std::max(0.0, outside) * 1e-9;
  return seconds;
}

}  // namespace

Joules::Joules(const Context& context, std::int64_t engines) {
  if (engines > 1) return;
  for (const auto& line : context.devices) {
    curves_.emplace_back(context.capture, line.device);
    if (curves_.back().source() != EnergySource::none) continue;
    curves_.clear();
    return;
  }
}

std::optional<std::int64_t> Joules::nanojoules(Interval span) const {
  if (curves_.empty()) return std::nullopt;
  std::int64_t sum = 0;
  for (const auto& curve : curves_) {
    const auto part = curve.nanojoules(span);
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

std::vector<double> Joules::by_kind(const std::vector<EngineStep>& steps) const {
  constexpr std::size_t kReadingsEach = 4;  // for each kind: fewer say nothing of the error
  constexpr double kWorthAColumn = 0.01;    // share of the time
  constexpr double kLargestError = 0.2;     // standard error of a kind's energy, relative
  if (curves_.empty() || steps.empty()) return {};
  const Interval whole{steps.front().start_ns, span_of(steps.back()).end};
  std::vector<Nanos> borders;
  for (const auto& reading : curves_.front().readings(whole, 0)) borders.push_back(reading.time);
  const Eigen::RowVectorXd all = seconds_by_kind(steps, whole);
  std::vector<Eigen::Index> columns;
  for (Eigen::Index kind = 0; kind < all.size(); ++kind)
    if (all[kind] > kWorthAColumn * all.sum()) columns.push_back(kind);
  if (columns.empty() || borders.size() < kReadingsEach * columns.size() + 1) return {};
  const auto rows = static_cast<Eigen::Index>(borders.size()) - 1;
  Eigen::MatrixXd seconds(rows, static_cast<Eigen::Index>(columns.size()));
  Eigen::VectorXd joules(rows);
  for (Eigen::Index row = 0; row < rows; ++row) {
    const Interval between{borders[static_cast<std::size_t>(row)],
                           borders[static_cast<std::size_t>(row) + 1]};
    const auto energy = nanojoules(between);
    if (!energy) return {};
    joules[row] = static_cast<double>(*energy) * 1e-9;
    seconds.row(row) = seconds_by_kind(steps, between)(columns);
  }
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> fit(seconds);
  if (fit.rank() < seconds.cols()) return {};
  const Eigen::VectorXd watts = fit.solve(joules);
  const double variance =
      (joules - seconds * watts).squaredNorm() / static_cast<double>(rows - seconds.cols());
  const Eigen::MatrixXd spread = (seconds.transpose() * seconds).inverse() * variance;
  std::vector<double> by_kind(kStepKinds, 0);
  double explained = 0;
  for (Eigen::Index i = 0; i < watts.size(); ++i) {
    const bool is_kind =
        columns[static_cast<std::size_t>(i)] != static_cast<Eigen::Index>(kOutside);
    if (is_kind && !(std::sqrt(spread(i, i)) < kLargestError * watts[i])) return {};
    const double energy = watts[i] * all[columns[static_cast<std::size_t>(i)]];
    explained += energy;
    if (is_kind) by_kind[static_cast<std::size_t>(columns[static_cast<std::size_t>(i)])] = energy;
  }
  const auto measured = nanojoules(whole);
  if (!measured || !(explained > 0)) return {};
  for (double& energy : by_kind) energy *= static_cast<double>(*measured) * 1e-9 / explained;
  return by_kind;
}

}  // namespace gf::serving
