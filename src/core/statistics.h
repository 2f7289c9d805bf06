// Order statistics and summaries over plain arrays, Student's distribution where a spread comes
// from few values, and the period of a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/describe.h"

namespace gf {

/// Linear-interpolated quantile (type 7, as NumPy) of unsorted values, q in [0, 1]. Values must not
/// be empty.
double quantile(std::vector<double> values, double quantile);
double median(std::vector<double> values);
/// Median absolute deviation from the median, unscaled.
double median_absolute_deviation(const std::vector<double>& values);

/// A distribution as a report shows it. With weights the quantiles are weighted (lower weighted
/// quantile).
struct Distribution {
  std::size_t count = 0;
  double min = 0, p5 = 0, p25 = 0, median = 0, p75 = 0, p95 = 0, max = 0, mean = 0;
  std::vector<double> shape;  // weight in 20 equal bins from min to max, as shares of the whole;
                              // empty when min == max

  template <class Visit>
  static void fields(Visit&& visit) {
    visit("count", &Distribution::count, "values");
    visit("min", &Distribution::min, "smallest");
    visit("p5", &Distribution::p5, "5th percentile");
    visit("p25", &Distribution::p25, "25th percentile");
    visit("median", &Distribution::median, "median");
    visit("p75", &Distribution::p75, "75th percentile");
    visit("p95", &Distribution::p95, "95th percentile");
    visit("max", &Distribution::max, "largest");
    visit("mean", &Distribution::mean, "mean");
    visit("shape", &Distribution::shape, "shares in 20 equal bins from min to max");
  }
};

/// Summary of values that count the same. O(n).
Distribution distribution(std::vector<double> values);
/// Summary of `values` with `weights` (same length; all zero stands for equal ones). O(n log n).
Distribution distribution(std::span<const double> values, std::span<const double> weights);

/// Half the width of a two-sided 95 % interval in standard errors: the 97.5 % quantile of Student's
/// distribution with so many degrees of freedom, at least 1.
double student_quantile95(std::int64_t degrees);
/// The 99.5 % quantile: the same of a two-sided interval of 99 %.
double student_quantile99(std::int64_t degrees);

// The period of a signal that repeats: steps of a program that has no marks.
// A candidate period, which need not be one of the work.

struct Period {
  double samples = 0;     // length in samples, mostly not whole
  double confidence = 0;  // normalized autocorrelation after whole periods, at most 1
};

/// The shortest strong period between 3 samples and a quarter of the signal, whose values are
/// shares of 0 to 1, each the mean over its sample. Empty when nothing repeats, and where the
/// samples cannot tell the period: docs/samples.md.
std::optional<Period> find_period(std::span<const float> signal);

/// True when a signal stands still but for dips that take less than about a fifteenth of the time:
/// waiting for the GPU after many steps looks so, whatever the steps are.
bool only_pauses(std::span<const float> signal);

/// The most that samples of a level can vary when its true period is so short that it comes out as
/// one of `samples`: period 1.3 looks like 4.3, as every third sample meets the next phase. A
/// sample then averages over most of a period. The level lies in 0..1 and has this mean.
double most_variance_of_faster(double samples, double mean);

/// Not std::hypot, whose version in glibc 2.35 older systems lack.
double root_of_squares(double one, double other);

}  // namespace gf
