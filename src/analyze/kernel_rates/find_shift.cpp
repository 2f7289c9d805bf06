#include "analyze/kernel_rates/find_shift.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "analyze/kernel_rates/sample_reader.h"

namespace gf {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr std::size_t kLeastSamples = 100;  // that a shift is found from
constexpr Nanos kLeastGrid = 10 * kNsPerUs, kMostGrid = 250 * kNsPerUs;
constexpr double kMostError = 0.5;
// The margin over the next best shift, as a share of what the best one does not explain, and by
// how many standard deviations. docs/record.md says what recordings show.
constexpr double kLeastRatio = 1.2, kLeastCertainty = 2;
constexpr double kSurelyRatio = 3;         // alone: few samples may hold all that changes
constexpr double kBarrier = 1.1;           // between two shifts that are answers of their own
constexpr std::size_t kBlockSamples = 10;  // neighbors share their errors
constexpr double kLeastDeviation = 0.005;  // of a metric's mean or of 1: less is no pattern

/// Least squares of normalized values by class at any shift.
class ShiftErrors {
 public:
  ShiftErrors(const std::vector<Observation>& samples, const ClassTimes& classes,
              const Intervals& traced)
      : samples_(samples), classes_(classes), traced_(traced) {
    if (samples.empty()) return;
    const auto metrics = samples.front().values.size();
    for (std::size_t metric = 0; metric < metrics; ++metric) {
      double sum = 0, squares = 0;
      for (const auto& sample : samples) sum += sample.values[metric];
      const double mean = sum / static_cast<double>(samples.size());
      for (const auto& sample : samples)
        squares += (sample.values[metric] - mean) * (sample.values[metric] - mean);
      deviations_.push_back(std::sqrt(squares / static_cast<double>(samples.size())));
      if (deviations_.back() > kLeastDeviation * std::max(std::abs(mean), 1e-12))
        used_.push_back(metric);
    }
  }

  bool pattern() const { return !used_.empty(); }
  const std::vector<double>& deviations() const { return deviations_; }

  struct At {
    std::vector<double> errors;  // by sample
    double mean = HUGE_VAL;      // for the freedom that the classes' rates have
    MatrixXd rates;              // classes x used metrics, of normalized values
    std::vector<std::size_t> used;
    std::vector<double> by_metric;
  };

  At at(Nanos shift) const {
    const auto width = static_cast<Index>(classes_.classes());
    const auto metrics = static_cast<Index>(used_.size());
    MatrixXd gram = MatrixXd::Zero(width, width), moments = MatrixXd::Zero(width, metrics);
    std::vector<ClassTimes::Share> shares, entries;
    std::vector<std::size_t> begin{0};
    std::size_t known = 0;
    for (const auto& sample : samples_) {
      const Interval moved{sample.span.start + shift, sample.span.end + shift};
      if (holds(traced_, moved)) {
        classes_.shares(moved, shares);
        ++known;
        for (const auto& one : shares) {
          for (const auto& other : shares)
            gram(static_cast<Index>(one.column), static_cast<Index>(other.column)) +=
                one.share * other.share;
          for (Index metric = 0; metric < metrics; ++metric)
            moments(static_cast<Index>(one.column), metric) += one.share * value(sample, metric);
        }
        entries.insert(entries.end(), shares.begin(), shares.end());
        begin.push_back(entries.size());
      } else {
        begin.push_back(kUnknown);
      }
    }
    return solved(gram, moments, entries, begin, known);
  }

 private:
  static constexpr std::size_t kUnknown = SIZE_MAX;

  double value(const Observation& sample, Index metric) const {
    const auto column = used_[static_cast<std::size_t>(metric)];
    return sample.values[column] / deviations_[column];
  }

  At solved(MatrixXd& gram, const MatrixXd& moments, const std::vector<ClassTimes::Share>& entries,
            const std::vector<std::size_t>& begin, std::size_t known) const {
    At out;
    const auto width = gram.rows();
    const auto present = static_cast<std::size_t>((gram.diagonal().array() > 0).count());
    out.errors.assign(samples_.size(), std::numeric_limits<double>::quiet_NaN());
    if (known < kLeastSamples || known < 2 * present) return out;
    gram += (1e-6 * gram.trace() / static_cast<double>(width) + 1e-30) *
            MatrixXd::Identity(width, width);
    out.rates = Eigen::LLT<MatrixXd>(gram).solve(moments);
    out.used = used_;
    out.by_metric.assign(used_.size(), 0);
    std::size_t from = 0;
    double sum = 0;
    for (std::size_t row = 0; row < samples_.size(); ++row) {
      if (begin[row + 1] == kUnknown) continue;
      double error = 0;
      for (Index metric = 0; metric < moments.cols(); ++metric) {
        double left = value(samples_[row], metric);
        for (std::size_t i = from; i < begin[row + 1]; ++i)
          left -= entries[i].share * out.rates(static_cast<Index>(entries[i].column), metric);
        error += left * left;
        out.by_metric[static_cast<std::size_t>(metric)] += left * left / static_cast<double>(known);
      }
      from = begin[row + 1];
      out.errors[row] = error / static_cast<double>(used_.size());
      sum += out.errors[row];
    }
    out.mean = sum / static_cast<double>(known - present);
    return out;
  }

  const std::vector<Observation>& samples_;
  const ClassTimes& classes_;
  const Intervals& traced_;
  std::vector<double> deviations_;
  std::vector<std::size_t> used_;
};

/// Over blocks of the samples that both shifts know: the sum of what the first explains more, over
/// the root of the sum of its squares. Chance gives a number around 0 with deviation 1; so many
/// blocks of equal weight give at most the root of their number.
double certainty_of(const std::vector<double>& best, const std::vector<double>& rival) {
  double sum = 0, squares = 0, block = 0;
  std::size_t held = 0;
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (std::isnan(best[i]) || std::isnan(rival[i])) continue;
    block += rival[i] - best[i];
    if (++held < kBlockSamples) continue;
    sum += block;
    squares += block * block;
    block = 0;
    held = 0;
  }
  return squares == 0 ? 0 : sum / std::sqrt(squares);
}

/// The best of the shifts that lie further from `best` than `apart` places of the grid and behind a
/// rise; SIZE_MAX where errors only grow.
std::size_t find_rival(const std::vector<double>& errors, std::size_t best, std::size_t apart) {
  std::size_t rival = SIZE_MAX;
  const auto look = [&](std::ptrdiff_t direction) {
    double highest = errors[best];
    for (auto i = static_cast<std::ptrdiff_t>(best) + direction;
         i >= 0 && i < static_cast<std::ptrdiff_t>(errors.size()); i += direction) {
      const auto here = static_cast<std::size_t>(i);
      if (!std::isfinite(errors[here])) continue;
      highest = std::max(highest, errors[here]);
      const std::size_t distance = std::max(here, best) - std::min(here, best);
      if (distance <= apart || errors[here] * kBarrier > highest) continue;
      if (rival == SIZE_MAX || errors[here] < errors[rival]) rival = here;
    }
  };
  look(1);
  look(-1);
  return rival;
}

}  // namespace

ShiftFound find_shift(const std::vector<Observation>& samples, const ClassTimes& classes,
                      const Intervals& traced) {
  ShiftFound out;
  if (samples.size() < kLeastSamples || classes.classes() == 0) return out;
  const ShiftErrors fit(samples, classes, traced);
  out.verdict = ShiftVerdict::no_pattern;
  if (!fit.pattern()) return out;
  const Nanos interval = samples[samples.size() / 2].span.length();
  const Nanos step = std::clamp(interval / 4, kLeastGrid, kMostGrid);
  std::vector<double> errors;
  for (Nanos shift = -kShiftReach; shift <= kShiftReach; shift += step)
    errors.push_back(fit.at(shift).mean);
  const auto best =
      static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin());
  out.verdict = ShiftVerdict::no_fit;
  if (!std::isfinite(errors[best])) return out;
  const auto shift_at = [&](std::size_t i) { return static_cast<Nanos>(i) * step - kShiftReach; };
  const auto error = [&](Nanos shift) { return fit.at(shift).mean; };
  const auto finer = [&](Nanos centre) { return least_error_shift(error, centre, step, step / 8); };
  out.shift = finer(shift_at(best));
  const auto found = fit.at(out.shift);
  out.error = found.mean;
  if (out.error > kMostError) return out;
  out.verdict = ShiftVerdict::found;
  const auto rival = find_rival(errors, best, static_cast<std::size_t>(interval / step));
  out.certainty = HUGE_VAL;
  if (rival != SIZE_MAX) {
    out.rival_shift = finer(shift_at(rival));
    const auto other = fit.at(out.rival_shift);
    out.rival_error = other.mean;
    out.certainty = certainty_of(found.errors, other.errors);
    const double ratio = out.rival_error / std::max(out.error, 1e-12);
    if (ratio < kLeastRatio || (ratio < kSurelyRatio && out.certainty < kLeastCertainty))
      out.verdict = ShiftVerdict::ambiguous;
  }
  out.rates.resize(samples.front().values.size());
  out.errors.assign(samples.front().values.size(), HUGE_VAL);
  for (std::size_t i = 0; i < found.used.size(); ++i) {
    const auto metric = found.used[i];
    out.errors[metric] = found.by_metric[i];
    for (std::size_t column = 0; column < classes.classes(); ++column)
      out.rates[metric].push_back(found.rates(static_cast<Index>(column), static_cast<Index>(i)) *
                                  fit.deviations()[metric]);
  }
  return out;
}

std::vector<double> shift_errors(const std::vector<Observation>& samples, const ClassTimes& classes,
                                 const Intervals& traced, Nanos shift) {
  return ShiftErrors(samples, classes, traced).at(shift).errors;
}

}  // namespace gf
