#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "analyze/energy/model.h"
#include "analyze/nnls.h"
#include "core/statistics.h"

namespace gf {

namespace {

/// Leakage slope (W/degC), from idle and sleep points only: under load, temperature follows power
/// and would pass for a cause of it. 0 if those points span too small a range of temperatures, so
/// that the fit would be noise.
double watts_per_celsius(const std::vector<EnergyPoint>& points) {
  constexpr double kSpan = 2;
  double low = HUGE_VAL, high = -HUGE_VAL, time = 0, weight = 0, tt = 0, tw = 0, count = 0;
  for (const auto& point : points)
    if (point.bench == "context" || point.bench == "spin") {
      const double watts = point.energy_j / point.seconds;
      count += 1;
      time += point.temperature_c;
      weight += watts;
      tt += point.temperature_c * point.temperature_c;
      tw += point.temperature_c * watts;
      low = std::min(low, point.temperature_c);
      high = std::max(high, point.temperature_c);
    }
  const double spread = tt - time * time / count;
  if (count < 3 || high - low < kSpan || !(spread > 0)) return 0;
  return std::max(0.0, (tw - time * weight / count) / spread);
}

/// The columns of the fit: static, active, then every feature that some point has.
struct Design {
  std::vector<std::string> features;
  VoltageCurve voltage;
  double t0 = 0, per_celsius = 0;

  explicit Design(const std::vector<EnergyPoint>& points) {
    std::set<std::string> seen;
    std::vector<double> idle;
    for (const auto& point : points) {
      if (point.bench == "context") idle.push_back(point.temperature_c);
      for (const auto& [feature, number] : point.counts)
        if (number > 0) seen.insert(feature);
    }
    features.assign(seen.begin(), seen.end());
    t0 = idle.empty() ? points.front().temperature_c : median(idle);
    per_celsius = watts_per_celsius(points);
  }
  std::size_t columns() const { return features.size() + 2; }
  Eigen::VectorXd row(const EnergyPoint& point) const {
    Eigen::VectorXd values(static_cast<Eigen::Index>(columns()));
    const double factor = voltage.energy_factor(point.sm_mhz);
    values[0] = point.seconds;
    values[1] = point.seconds * point.active * factor;
    for (std::size_t i = 0; i < features.size(); ++i) {
      const auto at = point.counts.find(features[i]);
      double picojoules = at != point.counts.end() ? at->second * 1e-12 : 0;
      if (on_chip(features[i])) picojoules *= factor;
      values[static_cast<Eigen::Index>(i) + 2] = picojoules;
    }
    return values;
  }
  /// The cost of temperature beside the columns, in joules.
  double warmth(const EnergyPoint& point) const {
    return per_celsius * (point.temperature_c - t0) * point.seconds;
  }
  /// Every row over its measured energy: the fit minimizes relative errors.
  Eigen::MatrixXd matrix(const std::vector<const EnergyPoint*>& points) const {
    Eigen::MatrixXd A(static_cast<Eigen::Index>(points.size()),
                      static_cast<Eigen::Index>(columns()));
    for (std::size_t i = 0; i < points.size(); ++i)
      A.row(static_cast<Eigen::Index>(i)) = row(*points[i]).transpose() / points[i]->energy_j;
    return A;
  }
  double right_side(const EnergyPoint& point) const { return 1 - warmth(point) / point.energy_j; }
  NonNegativeFit solve(const std::vector<const EnergyPoint*>& points) const {
    Eigen::VectorXd right(static_cast<Eigen::Index>(points.size()));
    for (std::size_t i = 0; i < points.size(); ++i)
      right[static_cast<Eigen::Index>(i)] = right_side(*points[i]);
    return nonnegative_least_squares(matrix(points), right);
  }
  std::string csv(const std::vector<const EnergyPoint*>& points) const {
    std::string text = "static_w,active_w";
    for (const auto& feature : features) text += "," + feature;
    text += ",right_side\n";
    const auto A = matrix(points);
    for (Eigen::Index i = 0; i < A.rows(); ++i) {
      for (Eigen::Index j = 0; j < A.cols(); ++j) text += fmt::format("{},", A(i, j));
      text += fmt::format("{}\n", right_side(*points[static_cast<std::size_t>(i)]));
    }
    return text;
  }
};

/// Share of each column that the others cannot reproduce over these points, 0..1. Near 0: not
/// separable.
std::vector<double> independence(const Design& design,
                                 const std::vector<const EnergyPoint*>& points) {
  const Eigen::MatrixXd A = design.matrix(points).colwise().normalized();
  std::vector<double> share(design.columns());
  for (Eigen::Index j = 0; j < A.cols(); ++j) {
    Eigen::MatrixXd others(A.rows(), A.cols() - 1);
    for (Eigen::Index column = 0, at = 0; column < A.cols(); ++column)
      if (column != j) others.col(at++) = A.col(column);
    share[static_cast<std::size_t>(j)] =
        (A.col(j) - others * others.colPivHouseholderQr().solve(A.col(j))).norm();
  }
  return share;
}

/// To five digits: a draw is kept in the model file, and means nothing beyond them.
std::vector<double> rounded(const Eigen::VectorXd& solution) {
  std::vector<double> out;
  for (const double value : solution) {
    double unit = value != 0 ? std::pow(10.0, 4 - std::floor(std::log10(std::abs(value)))) : 1;
    out.push_back(std::round(value * unit) / unit);
  }
  return out;
}

/// The voltage curve under which the points fit best: the slope from all of them, the floor where
/// it changes anything. Points of one clock tell nothing of it.
VoltageCurve voltage_curve(Design design, const std::vector<const EnergyPoint*>& points) {
  constexpr double kSpan = 0.03;  // clocks must differ by as much
  double low = HUGE_VAL, high = 0;
  for (const auto* point : points)
    if (point->sm_mhz > 0) {
      low = std::min(low, point->sm_mhz);
      high = std::max(high, point->sm_mhz);
    }
  if (!(low < high * (1 - kSpan))) return {high, 0, 1};
  VoltageCurve best;
  double least = HUGE_VAL;
  for (int slope = 0; slope <= 32; ++slope) {
    const double at_low = std::max(0.0, 1 - slope * 0.05 * (1 - low / high));
    for (double floor = at_low; floor <= at_low + 0.2; floor += 0.02) {
      design.voltage = {high, slope * 0.05, floor};
      const double residual = design.solve(points).residual_norm;
      if (residual < least * (1 - 1e-9)) {
        least = residual;
        best = design.voltage;
      }
      if (slope == 0) break;
    }
  }
  return best;
}

struct Range {
  double low, high;
};

/// bench -> group -> runs
using Strata = std::map<std::string, std::map<std::string, std::vector<const EnergyPoint*>>>;

/// Solutions of the fit over drawn points.
struct Draws {
  std::vector<std::vector<double>> by_column;
  std::vector<std::vector<double>> kept;  // by round, rounded: what the model file holds
};

/// Bootstrap within each microbenchmark: groups with replacement, then runs of the group with
/// replacement.
Draws bootstrap(const Design& design, const Strata& strata, int rounds, unsigned seed) {
  std::mt19937 random(seed);
  Draws draws;
  draws.by_column.resize(design.columns());
  for (int round = 0; round < rounds; ++round) {
    std::vector<const EnergyPoint*> sample;
    for (const auto& [bench, groups] : strata) {
      std::vector<const std::vector<const EnergyPoint*>*> list;
      for (const auto& [name, members] : groups) list.push_back(&members);
      for (std::size_t i = 0; i < list.size(); ++i) {
        const auto& members = *list[random() % list.size()];
        for (std::size_t j = 0; j < members.size(); ++j)
          sample.push_back(members[random() % members.size()]);
      }
    }
    const auto again = design.solve(sample);
    for (std::size_t column = 0; column < draws.by_column.size(); ++column)
      draws.by_column[column].push_back(again.x[static_cast<Eigen::Index>(column)]);
    draws.kept.push_back(rounded(again.x));
  }
  return draws;
}

/// The interval of 95 % of a column's draws; the fitted value when nothing was drawn.
Range interval_of(const Draws& draws, const NonNegativeFit& fit, std::size_t column) {
  const auto& values = draws.by_column[column];
  const double fitted = fit.x[static_cast<Eigen::Index>(column)];
  if (values.empty()) return {fitted, fitted};
  return {quantile(values, .025), quantile(values, .975)};
}

EnergyCoefficient coefficient_of(const Design& design, const NonNegativeFit& fit,
                                 const Draws& draws, const std::vector<double>& alone,
                                 std::size_t feature) {
  const std::size_t column = feature + 2;
  EnergyCoefficient coefficient;
  coefficient.feature = design.features[feature];
  for (const auto& known : energy_features())
    if (known.id == coefficient.feature) coefficient.unit = known.unit;
  coefficient.picojoules = fit.x[static_cast<Eigen::Index>(column)];
  const Range interval = interval_of(draws, fit, column);
  coefficient.low = interval.low;
  coefficient.high = interval.high;
  if (!fit.free[column]) {
    coefficient.identified = false;
    coefficient.note = "is at its bound of 0";
  } else if (alone[column] < 0.02) {
    coefficient.identified = false;
    coefficient.note = "the points barely separate it from other features";
  }
  return coefficient;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  if (values.empty()) return std::nan("");
  return sum / static_cast<double>(values.size());
}

/// Fills in the residuals of the fit at its own points, and their clocks.
void fill_errors(const Design& design, const NonNegativeFit& fit,
                 const std::vector<EnergyPoint>& points, EnergyModel& model) {
  std::map<std::string, std::vector<double>> errors;
  std::vector<double> absolute;
  model.sm_mhz_low = model.sm_mhz_high = points.front().sm_mhz;
  for (const auto& point : points) {
    const double relative =
        (design.row(point).dot(fit.x) + design.warmth(point)) / point.energy_j - 1;
    errors[point.bench].push_back(relative);
    absolute.push_back(std::abs(relative));
    model.sm_mhz_low = std::min(model.sm_mhz_low, point.sm_mhz);
    model.sm_mhz_high = std::max(model.sm_mhz_high, point.sm_mhz);
  }
  model.mean_absolute_error = mean(absolute);
  for (const auto& [bench, list] : errors)
    model.errors.push_back({bench, mean(list), static_cast<int>(list.size())});
}

}  // namespace

const EnergyCoefficient* EnergyModel::find(const std::string& feature) const {
  for (const auto& coefficient : coefficients)
    if (coefficient.feature == feature) return &coefficient;
  return nullptr;
}

Result<EnergyModel> fit_energy(const std::vector<EnergyPoint>& all, int bootstrap_rounds,
                               unsigned seed, std::string* system) {
  std::vector<EnergyPoint> points;
  std::map<std::string, std::vector<double>> references;
  for (const auto& point : all) {
    if (!(point.seconds > 0 && point.energy_j > 0)) continue;
    if (point.bench == "asleep" || point.bench == "context" || point.bench == "spin")
      references[point.bench].push_back(point.energy_j / point.seconds);
    if (point.bench != "asleep")
      points.push_back(point);  // asleep has other clocks: a reference, no point of the fit
  }
  if (points.empty()) return fail("no usable point to fit an energy model to");
  Design design(points);
  if (points.size() < 2 * design.columns())
    return fail("too few points (" + std::to_string(points.size()) + ") for " +
                std::to_string(design.columns()) + " coefficients");

  std::vector<const EnergyPoint*> pointers;
  Strata strata;
  for (const auto& point : points) {
    pointers.push_back(&point);
    strata[point.bench][point.group].push_back(&point);
  }
  design.voltage = voltage_curve(design, pointers);
  const auto fit = design.solve(pointers);
  if (system) *system = design.csv(pointers);
  Draws draws = bootstrap(design, strata, bootstrap_rounds, seed);

  EnergyModel model;
  model.points = static_cast<int>(points.size());
  model.draw_columns = {"static_w", "active_w"};
  model.draw_columns.insert(model.draw_columns.end(), design.features.begin(),
                            design.features.end());
  const Range static_w = interval_of(draws, fit, 0);
  model.static_w = fit.x[0];
  model.static_low = static_w.low;
  model.static_high = static_w.high;
  const Range active_w = interval_of(draws, fit, 1);
  model.active_w = fit.x[1];
  model.active_low = active_w.low;
  model.active_high = active_w.high;
  model.voltage = design.voltage;
  model.per_celsius_w = design.per_celsius;
  model.reference_celsius = design.t0;
  const auto alone = independence(design, pointers);
  for (std::size_t feature = 0; feature < design.features.size(); ++feature)
    model.coefficients.push_back(coefficient_of(design, fit, draws, alone, feature));
  model.draws = std::move(draws.kept);
  fill_errors(design, fit, points, model);
  model.asleep_w = mean(references["asleep"]);
  model.context_w = mean(references["context"]);
  model.spin_w = mean(references["spin"]);
  return model;
}

}  // namespace gf
