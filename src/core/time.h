// Time is int64 nanoseconds everywhere. Decimal texts are parsed as fixed point, never through a
// double: a 19-digit microsecond timestamp has a 0.25 us step as a double.
// The clock of recordings and of live tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gf {

using Nanos = std::int64_t;

inline constexpr Nanos kNsPerUs = 1'000;
inline constexpr Nanos kNsPerMs = 1'000'000;
inline constexpr Nanos kNsPerSecond = 1'000'000'000;

/// Half-open span [start, end) in nanoseconds.
struct Interval {
  Nanos start = 0;
  Nanos end = 0;
  Nanos length() const { return end - start; }
  bool operator==(const Interval&) const = default;
};

/// A part of a time as 0..1; none of an empty one.
inline std::optional<double> share_of(Nanos part, Nanos whole) {
  if (whole <= 0) return {};
  return static_cast<double>(part) / static_cast<double>(whole);
}

/// Reads a decimal number ("-12.345", "1e3", "4329702664395.481") times 10^`exponent`, rounded half
/// away from zero to an integer. With exponent 3 a text in microseconds gives nanoseconds. Empty
/// when the text is not a number or the result leaves int64.
std::optional<std::int64_t> parse_decimal(std::string_view text, int exponent);

/// left + right, empty on overflow.
std::optional<Nanos> checked_add(Nanos left, Nanos right);

/// Nanoseconds since 1970, running at the monotonic clock's rate: never steps back while the
/// program runs.
Nanos host_now();

}  // namespace gf
