// Order statistics and summaries over plain arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/describe.h"

namespace gf {

/// Linear-interpolated quantile (type 7, as NumPy) of unsorted values, q in [0, 1]. Values must not
/// be empty.
double quantile(std::vector<double> values, double q);
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

  static constexpr auto fields() {
    using D = Distribution;
    return std::tuple{field("count", &D::count, "values"),
                      field("min", &D::min, "smallest"),
                      field("p5", &D::p5, "5th percentile"),
                      field("p25", &D::p25, "25th percentile"),
                      field("median", &D::median, "median"),
                      field("p75", &D::p75, "75th percentile"),
                      field("p95", &D::p95, "95th percentile"),
                      field("max", &D::max, "largest"),
                      field("mean", &D::mean, "mean"),
                      field("shape", &D::shape, "shares in 20 equal bins from min to max")};
  }
};

/// Summary of values that count the same. O(n).
Distribution distribution(std::vector<double> values);
/// Summary of `values` with `weights` (same length; all zero stands for equal ones). O(n log n).
Distribution distribution(std::span<const double> values, std::span<const double> weights);

}  // namespace gf
