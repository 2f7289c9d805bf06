#include "core/time.h"

#include <algorithm>
#include <ctime>

namespace gf {

std::optional<Nanos> checked_add(Nanos left, Nanos right) {
  Nanos result;
  if (__builtin_add_overflow(left, right, &result)) return std::nullopt;
  return result;
}

namespace {

/// Splits "digits[.digits][e[+-]digits]" and folds the written exponent into `exponent`.
struct Decimal {
  std::string_view whole, fraction;
  bool negative = false;
};

std::optional<Decimal> split(std::string_view text, int& exponent) {
  Decimal decimal;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    decimal.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  auto digits = [&] {
    std::size_t count = 0;
    while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
    auto part = text.substr(0, count);
    text.remove_prefix(count);
    return part;
  };
  decimal.whole = digits();
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    decimal.fraction = digits();
  }
  if (decimal.whole.empty() && decimal.fraction.empty()) return std::nullopt;
  if (!text.empty() && (text[0] == 'e' || text[0] == 'E')) {
    text.remove_prefix(1);
    bool down = !text.empty() && text[0] == '-';
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
    auto exponent_digits = digits();
    if (exponent_digits.empty()) return std::nullopt;
    int value = 0;
    for (char digit : exponent_digits)
      value =
          std::min(value * 10 + (digit - '0'), 10'000);  // saturates: far outside int64 either way
    if (down) {
      exponent += -value;
    } else {
      exponent += value;
    }
  }
  if (!text.empty()) return std::nullopt;
  return decimal;
}

}  // namespace

std::optional<std::int64_t> parse_decimal(std::string_view text, int exponent) {
  auto parts = split(text, exponent);
  if (!parts) return std::nullopt;
  // Walk the digits whole+fraction; the decimal point sits after whole.size() + exponent of them.
  const auto digits = static_cast<std::int64_t>(parts->whole.size() + parts->fraction.size());
  const std::int64_t kept = static_cast<std::int64_t>(parts->whole.size()) + exponent;
  auto digit = [&](std::int64_t index) -> int {
    if (index < 0 || index >= digits) return 0;
    auto unit = static_cast<std::size_t>(index);
    if (unit < parts->whole.size()) return parts->whole[unit] - '0';
    return parts->fraction[unit - parts->whole.size()] - '0';
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
  const std::uint64_t limit = static_cast<std::uint64_t>(INT64_MAX) + (parts->negative ? 1 : 0);
  if (overflow || value > limit) return std::nullopt;
  return parts->negative ? static_cast<std::int64_t>(-value) : static_cast<std::int64_t>(value);
}

Nanos host_now() {
  auto read = [](clockid_t id) {
    timespec moment{};
    clock_gettime(id, &moment);
    return static_cast<Nanos>(moment.tv_sec) * kNsPerSecond + moment.tv_nsec;
  };
  static const Nanos offset = read(CLOCK_REALTIME) - read(CLOCK_MONOTONIC);
  return offset + read(CLOCK_MONOTONIC);
}

}  // namespace gf
