#include "core/student.h"

#include <cmath>
#include <numbers>

#include "core/assert.h"

namespace gf {

namespace {

constexpr double kInside = 0.95;
constexpr double kNormal = 1.959963984540054;  // 97.5 % quantile of the normal distribution
// From here on the series in 1/degrees is exact to the last digits.
constexpr std::int64_t kMany = 400;

/// The probability of being inside [-t, t] with t = sqrt(degrees) tan(angle): a finite sum
/// (Abramowitz and Stegun 26.7.3 and 26.7.4).
double inside(double angle, std::int64_t degrees) {
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = degrees == 1 ? 0 : term;
  for (std::int64_t factor = odd ? 3 : 2; factor < degrees; factor += 2) {
    term *= cosine * cosine * static_cast<double>(factor - 1) / static_cast<double>(factor);
    sum += term;
  }
  sum *= std::sin(angle);
  if (odd) sum = (sum + angle) * 2 / std::numbers::pi;
  return sum;
}

/// The first terms of the quantile in powers of 1/degrees (26.7.5).
double quantile_of_many(double degrees) {
  const double x = kNormal, square = x * x;
  const double first = x * (square + 1) / 4;
  const double second = x * ((5 * square + 16) * square + 3) / 96;
  const double third = x * (((3 * square + 19) * square + 17) * square - 15) / 384;
  const double fourth =
      x * ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160;
  return x + (first + (second + (third + fourth / degrees) / degrees) / degrees) / degrees;
}

}  // namespace

double student_quantile95(std::int64_t degrees) {
  GF_ASSERT(degrees >= 1);
  if (degrees >= kMany) return quantile_of_many(static_cast<double>(degrees));
  double low = 0, high = std::numbers::pi / 2;
  for (int halving = 0; halving < 60; ++halving) {
    const double angle = (low + high) / 2;
    (inside(angle, degrees) < kInside ? low : high) = angle;
  }
  return std::sqrt(static_cast<double>(degrees)) * std::tan(low);
}

}  // namespace gf
