#include "core/time.h"

#include <algorithm>

namespace gf {

std::optional<Nanos> checked_sub(Nanos a, Nanos b) {
  Nanos r;
  if (__builtin_sub_overflow(a, b, &r)) return std::nullopt;
  return r;
}

std::optional<Nanos> checked_add(Nanos a, Nanos b) {
  Nanos r;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}

namespace {

/// Splits "digits[.digits][e[+-]digits]" and folds the written exponent into `exponent`.
struct Decimal {
  std::string_view whole, fraction;
  bool negative = false;
};

std::optional<Decimal> split(std::string_view t, int& exponent) {
  Decimal d;
  if (!t.empty() && (t[0] == '-' || t[0] == '+')) {
    d.negative = t[0] == '-';
    t.remove_prefix(1);
  }
  auto digits = [&] {
    std::size_t n = 0;
    while (n < t.size() && t[n] >= '0' && t[n] <= '9') ++n;
    auto part = t.substr(0, n);
    t.remove_prefix(n);
    return part;
  };
  d.whole = digits();
  if (!t.empty() && t[0] == '.') {
    t.remove_prefix(1);
    d.fraction = digits();
  }
  if (d.whole.empty() && d.fraction.empty()) return std::nullopt;
  if (!t.empty() && (t[0] == 'e' || t[0] == 'E')) {
    t.remove_prefix(1);
    bool down = !t.empty() && t[0] == '-';
    if (!t.empty() && (t[0] == '-' || t[0] == '+')) t.remove_prefix(1);
    auto e = digits();
    if (e.empty()) return std::nullopt;
    int value = 0;
    for (char c : e)
      value = std::min(value * 10 + (c - '0'), 10'000);  // saturates: far outside int64 either way
    exponent += down ? -value : value;
  }
  if (!t.empty()) return std::nullopt;
  return d;
}

}  // namespace

std::optional<std::int64_t> parse_decimal(std::string_view text, int exponent) {
  auto d = split(text, exponent);
  if (!d) return std::nullopt;
  // Walk the digits whole+fraction; the decimal point sits after whole.size() + exponent of them.
  const auto digits = static_cast<std::int64_t>(d->whole.size() + d->fraction.size());
  const std::int64_t kept = static_cast<std::int64_t>(d->whole.size()) + exponent;
  auto digit = [&](std::int64_t i) -> int {
    if (i < 0 || i >= digits) return 0;
    auto u = static_cast<std::size_t>(i);
    return u < d->whole.size() ? d->whole[u] - '0' : d->fraction[u - d->whole.size()] - '0';
  };
  std::uint64_t value = 0;
  bool overflow = false;
  for (std::int64_t i = 0; i < kept && !overflow; ++i) {
    if (i >= digits && value == 0) break;  // zero times any power of ten
    overflow = __builtin_mul_overflow(value, 10u, &value) ||
               __builtin_add_overflow(value, static_cast<std::uint64_t>(digit(i)), &value);
  }
  if (!overflow && kept >= 0 && digit(kept) >= 5)
    overflow = __builtin_add_overflow(value, 1u, &value);
  const std::uint64_t limit = static_cast<std::uint64_t>(INT64_MAX) + (d->negative ? 1 : 0);
  if (overflow || value > limit) return std::nullopt;
  return d->negative ? static_cast<std::int64_t>(-value) : static_cast<std::int64_t>(value);
}

}  // namespace gf
