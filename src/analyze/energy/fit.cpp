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

/// Watts a degree of the GPU that does nothing, from the points that are idle or sleep: in loaded
/// points temperature follows power, and would pass for a cause of it. 0 when those points span too
/// little.
double watts_per_celsius(const std::vector<EnergyPoint>& points) {
  constexpr double kSpan = 2;
  double low = HUGE_VAL, high = -HUGE_VAL, t = 0, w = 0, tt = 0, tw = 0, n = 0;
  for (const auto& p : points)
    if (p.bench == "context" || p.bench == "spin") {
      const double watts = p.energy_j / p.seconds;
      n += 1, t += p.temperature_c, w += watts, tt += p.temperature_c * p.temperature_c,
          tw += p.temperature_c * watts;
      low = std::min(low, p.temperature_c), high = std::max(high, p.temperature_c);
    }
  const double spread = tt - t * t / n;
  return n < 3 || high - low < kSpan || !(spread > 0) ? 0
                                                      : std::max(0.0, (tw - t * w / n) / spread);
}

/// The columns of the fit: static, active, then every feature that some point has.
struct Design {
  std::vector<std::string> features;
  VoltageCurve voltage;
  double t0 = 0, per_celsius = 0;

  explicit Design(const std::vector<EnergyPoint>& points) {
    std::set<std::string> seen;
    std::vector<double> idle;
    for (const auto& p : points) {
      if (p.bench == "context") idle.push_back(p.temperature_c);
      for (const auto& [feature, n] : p.counts)
        if (n > 0) seen.insert(feature);
    }
    features.assign(seen.begin(), seen.end());
    t0 = idle.empty() ? points.front().temperature_c : median(idle);
    per_celsius = watts_per_celsius(points);
  }
  std::size_t columns() const { return features.size() + 2; }
  Eigen::VectorXd row(const EnergyPoint& p) const {
    Eigen::VectorXd r(static_cast<Eigen::Index>(columns()));
    const double factor = voltage.energy_factor(p.sm_mhz);
    r[0] = p.seconds;
    r[1] = p.seconds * p.active * factor;
    for (std::size_t i = 0; i < features.size(); ++i) {
      const auto at = p.counts.find(features[i]);
      r[static_cast<Eigen::Index>(i) + 2] =
          at == p.counts.end() ? 0 : at->second * 1e-12 * (on_chip(features[i]) ? factor : 1);
    }
    return r;
  }
  /// What the temperature costs beside the columns, in joules.
  double warmth(const EnergyPoint& p) const {
    return per_celsius * (p.temperature_c - t0) * p.seconds;
  }
  /// Every row over its measured energy: the fit minimises relative errors.
  Eigen::MatrixXd matrix(const std::vector<const EnergyPoint*>& points) const {
    Eigen::MatrixXd A(static_cast<Eigen::Index>(points.size()),
                      static_cast<Eigen::Index>(columns()));
    for (std::size_t i = 0; i < points.size(); ++i)
      A.row(static_cast<Eigen::Index>(i)) = row(*points[i]).transpose() / points[i]->energy_j;
    return A;
  }
  double right_side(const EnergyPoint& p) const { return 1 - warmth(p) / p.energy_j; }
  NonNegativeFit solve(const std::vector<const EnergyPoint*>& points) const {
    Eigen::VectorXd b(static_cast<Eigen::Index>(points.size()));
    for (std::size_t i = 0; i < points.size(); ++i)
      b[static_cast<Eigen::Index>(i)] = right_side(*points[i]);
    return nonnegative_least_squares(matrix(points), b);
  }
  std::string csv(const std::vector<const EnergyPoint*>& points) const {
    std::string text = "static_w,active_w";
    for (const auto& f : features) text += "," + f;
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
    for (Eigen::Index k = 0, at = 0; k < A.cols(); ++k)
      if (k != j) others.col(at++) = A.col(k);
    share[static_cast<std::size_t>(j)] =
        (A.col(j) - others * others.colPivHouseholderQr().solve(A.col(j))).norm();
  }
  return share;
}

/// To five digits: a draw is kept in the model file, and means nothing beyond them.
std::vector<double> rounded(const Eigen::VectorXd& x) {
  std::vector<double> out;
  for (const double v : x) {
    const double unit = v == 0 ? 1 : std::pow(10.0, 4 - std::floor(std::log10(std::abs(v))));
    out.push_back(std::round(v * unit) / unit);
  }
  return out;
}

/// The voltage curve under which the points fit best: the slope from all of them, the floor where
/// it changes anything. Points of one clock tell nothing of it.
VoltageCurve voltage_curve(Design design, const std::vector<const EnergyPoint*>& points) {
  constexpr double kSpan = 0.03;  // clocks must differ by as much
  double low = HUGE_VAL, high = 0;
  for (const auto* p : points)
    if (p->sm_mhz > 0) low = std::min(low, p->sm_mhz), high = std::max(high, p->sm_mhz);
  if (!(low < high * (1 - kSpan))) return {high, 0, 1};
  VoltageCurve best;
  double least = HUGE_VAL;
  for (int slope = 0; slope <= 32; ++slope) {
    const double at_low = std::max(0.0, 1 - slope * 0.05 * (1 - low / high));
    for (double floor = at_low; floor <= at_low + 0.2; floor += 0.02) {
      design.voltage = {high, slope * 0.05, floor};
      const double residual = design.solve(points).residual_norm;
      if (residual < least * (1 - 1e-9)) least = residual, best = design.voltage;
      if (slope == 0) break;
    }
  }
  return best;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return values.empty() ? std::nan("") : sum / static_cast<double>(values.size());
}

}  // namespace

const EnergyCoefficient* EnergyModel::find(const std::string& feature) const {
  for (const auto& c : coefficients)
    if (c.feature == feature) return &c;
  return nullptr;
}

Result<EnergyModel> fit_energy(const std::vector<EnergyPoint>& all, int bootstrap_rounds,
                               unsigned seed, std::string* system) {
  std::vector<EnergyPoint> points;
  std::map<std::string, std::vector<double>> references;
  for (const auto& p : all) {
    if (!(p.seconds > 0 && p.energy_j > 0)) continue;
    if (p.bench == "asleep" || p.bench == "context" || p.bench == "spin")
      references[p.bench].push_back(p.energy_j / p.seconds);
    if (p.bench != "asleep")
      points.push_back(p);  // asleep has other clocks: a reference, no point of the fit
  }
  if (points.empty()) return fail("no usable point to fit an energy model to");
  Design design(points);
  if (points.size() < 2 * design.columns())
    return fail("too few points (" + std::to_string(points.size()) + ") for " +
                std::to_string(design.columns()) + " coefficients");

  std::vector<const EnergyPoint*> pointers;
  std::map<std::string, std::map<std::string, std::vector<const EnergyPoint*>>>
      strata;  // bench -> group -> runs
  for (const auto& p : points) {
    pointers.push_back(&p);
    strata[p.bench][p.group].push_back(&p);
  }
  design.voltage = voltage_curve(design, pointers);
  const auto fit = design.solve(pointers);
  if (system) *system = design.csv(pointers);

  // Bootstrap within each microbenchmark: groups with replacement, then runs of the group with
  // replacement.
  std::mt19937 random(seed);
  std::vector<std::vector<double>> draws(design.columns()), kept;
  for (int round = 0; round < bootstrap_rounds; ++round) {
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
    for (std::size_t j = 0; j < draws.size(); ++j)
      draws[j].push_back(again.x[static_cast<Eigen::Index>(j)]);
    kept.push_back(rounded(again.x));
  }
  auto bound = [&](std::size_t j, double q) {
    return draws[j].empty() ? fit.x[static_cast<Eigen::Index>(j)] : quantile(draws[j], q);
  };

  EnergyModel m;
  m.points = static_cast<int>(points.size());
  m.draw_columns = {"static_w", "active_w"};
  m.draw_columns.insert(m.draw_columns.end(), design.features.begin(), design.features.end());
  m.draws = std::move(kept);
  m.static_w = fit.x[0], m.static_low = bound(0, .025), m.static_high = bound(0, .975);
  m.active_w = fit.x[1], m.active_low = bound(1, .025), m.active_high = bound(1, .975);
  m.voltage = design.voltage;
  m.per_celsius_w = design.per_celsius;
  m.reference_celsius = design.t0;
  const auto alone = independence(design, pointers);
  for (std::size_t i = 0; i < design.features.size(); ++i) {
    EnergyCoefficient c;
    c.feature = design.features[i];
    for (const auto& known : energy_features())
      if (known.id == c.feature) c.unit = known.unit;
    c.picojoules = fit.x[static_cast<Eigen::Index>(i) + 2];
    c.low = bound(i + 2, .025);
    c.high = bound(i + 2, .975);
    if (!fit.free[i + 2])
      c.identified = false, c.note = "stands on its bound at 0";
    else if (alone[i + 2] < 0.02)
      c.identified = false, c.note = "the points hardly separate it from other features";
    m.coefficients.push_back(c);
  }
  std::map<std::string, std::vector<double>> errors;
  std::vector<double> absolute, clocks;
  for (const auto& p : points) {
    const double relative = (design.row(p).dot(fit.x) + design.warmth(p)) / p.energy_j - 1;
    errors[p.bench].push_back(relative);
    absolute.push_back(std::abs(relative));
    clocks.push_back(p.sm_mhz);
  }
  std::tie(m.sm_mhz_low, m.sm_mhz_high) =
      std::pair{*std::min_element(clocks.begin(), clocks.end()),
                *std::max_element(clocks.begin(), clocks.end())};
  m.mean_absolute_error = mean(absolute);
  for (const auto& [bench, list] : errors)
    m.errors.push_back({bench, mean(list), static_cast<int>(list.size())});
  m.asleep_w = mean(references["asleep"]);
  m.context_w = mean(references["context"]);
  m.spin_w = mean(references["spin"]);
  return m;
}

}  // namespace gf
