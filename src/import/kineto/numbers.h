// Numbers of events, read from their text without ever passing through a double where an integer is
// meant.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/time.h"

namespace gf::kineto {

/// True if a number of JSON may begin so.
inline bool begins_number(char first) {
  return first == '-' || static_cast<unsigned char>(first - '0') < 10;
}

/// Eight digits at once; the caller knows that they are digits. Two, then four, then eight of them
/// become one number.
inline std::uint64_t eight_digits(std::uint64_t chunk) {
  chunk = (chunk & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
  chunk = (chunk & 0x00ff00ff00ff00ff) * 6553601 >> 16;
  return (chunk & 0x0000ffff0000ffff) * 42949672960001 >> 32;
}

inline bool are_digits(std::uint64_t chunk) {
  return ((chunk & 0xf0f0f0f0f0f0f0f0) |
          (((chunk + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) >> 4)) == 0x3333333333333333;
}

/// The first eight bytes of a text behind which more may be read, as behind tokens of events:
/// bytes, at most; those before the digits are zeros' digits.
inline std::uint64_t leading_digits(const char* text, std::size_t count) {
  std::uint64_t chunk;
  std::memcpy(&chunk, text, 8);
  if (count < 8) chunk = chunk << 8 * (8 - count) | 0x3030303030303030u >> 8 * count;
  return chunk;
}

/// Microseconds as decimal text to nanoseconds, exactly. The common form, digits with at most three
/// decimals, has a short way.
inline std::optional<Nanos> parse_us(std::string_view text) {
  if (text.size() > 18) return parse_decimal(text, 3);
  std::int64_t value = 0;
  std::size_t index = 0;
  if constexpr (std::endian::native == std::endian::little) {
    if (text.size() >= 8) {
      std::uint64_t chunk;
      std::memcpy(&chunk, text.data(), 8);
      if (are_digits(chunk)) {
        value = static_cast<std::int64_t>(eight_digits(chunk));
        index = 8;
      }
    }
  }
  for (; index < text.size() && static_cast<unsigned char>(text[index] - '0') < 10; ++index)
    value = value * 10 + (text[index] - '0');
  if (index == 0 || index > 15)
    return parse_decimal(text, 3);  // no number, or perhaps beyond int64
  if (index == text.size()) return value * 1000;
  if (text[index] != '.' || text.size() - index - 1 > 3 || text.size() - index < 2)
    return parse_decimal(text, 3);
  std::size_t decimals = text.size() - ++index;
  for (; index < text.size(); ++index) {
    if (static_cast<unsigned char>(text[index] - '0') >= 10) return parse_decimal(text, 3);
    value = value * 10 + (text[index] - '0');
  }
  for (; decimals < 3; ++decimals) value *= 10;
  return value;
}

/// The number that one to eight digits are; empty when they are not all digits. Without a step for
/// each: how many come next is what a processor guesses worst.
inline std::optional<std::int64_t> few_digits(const char* text, std::size_t count) {
  std::uint64_t chunk = 0;
  if (count >= 4) {
    std::uint32_t head, tail;
    std::memcpy(&head, text, 4);
    std::memcpy(&tail, text + count - 4, 4);
    chunk = head | static_cast<std::uint64_t>(tail) << 8 * (count - 4);
  } else {
    for (const std::size_t i : {std::size_t{0}, count / 2, count - 1})
      chunk |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << 8 * i;
  }
  if (count < 8) chunk = chunk << 8 * (8 - count) | 0x3030303030303030u >> 8 * count;
  if (!are_digits(chunk)) return std::nullopt;
  return static_cast<std::int64_t>(eight_digits(chunk));
}

/// The leading digits of a time: mostly it is what the time before began with.
struct TimeHead {
  std::size_t size = 0;
  std::uint64_t begin = 0, end = 0;  // its first and last bytes
  std::uint64_t value = 0;
};

/// As parse_us, of a token. What Kineto writes, one to fifteen digits, a point and three decimals,
/// is read without a step for each: the last seven digits at once, those before them where they
/// changed.
[[gnu::always_inline]] inline std::optional<Nanos> parse_us_of_token(std::string_view text,
                                                                     TimeHead& head) {
  if constexpr (std::endian::native == std::endian::little) {
    const std::size_t size = text.size();
    if (size < 5 || size > 19) return parse_us(text);
    const char* const at = text.data();
    const std::uint64_t tail =
        leading_digits(at + (size > 8 ? size - 8 : 0), std::min<std::size_t>(size, 8));
    const std::uint64_t digits =  // without the point
        '0' | (tail & 0xffffffff) << 8 | (tail & 0xffffff0000000000);
    if ((tail >> 32 & 0xff) != '.' || !are_digits(digits)) return parse_us(text);
    if (size <= 8) return static_cast<Nanos>(eight_digits(digits));
    const std::size_t count = size - 8;
    const std::uint64_t begin = leading_digits(at, count),
                        end = count > 8 ? leading_digits(at + count - 8, 8) : begin;
    if (count != head.size || begin != head.begin || end != head.end) {
      const std::uint64_t first = count > 8 ? leading_digits(at, count - 8) : 0x3030303030303030;
      if (!are_digits(first) || !are_digits(end)) return parse_us(text);
      head = {count, begin, end, eight_digits(first) * 100'000'000 + eight_digits(end)};
    }
    return static_cast<Nanos>(head.value * 10'000'000 + eight_digits(digits));
  }
  return parse_us(text);
}

/// A whole number. Also understood: 3.0, 1e3, 0x1f (AMD writes streams so).
inline std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  if constexpr (std::endian::native == std::endian::little)
    if (!text.empty() && text.size() <= 8)
      if (const auto digits = few_digits(text.data(), text.size())) return digits;
  if (text.size() <= 18 && !text.empty()) {
    std::size_t index = text[0] == '-';
    const std::size_t first = index;
    for (; index < text.size() && static_cast<unsigned char>(text[index] - '0') < 10; ++index)
      value = value * 10 + (text[index] - '0');
    if (index == text.size() && index > first) {
      if (first) return -value;
      return value;
    }
  }
  if (text.starts_with("0x")) {
    const auto [end, error] =
        std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (error == std::errc() && end == text.data() + text.size()) return value;
    return std::nullopt;
  }
  return parse_decimal(text, 0);
}

/// The number that a token of one to eight digits is; empty for all others.
inline std::optional<std::int64_t> short_integer_of_token(std::string_view text) {
  if constexpr (std::endian::native == std::endian::little) {
    if (text.size() - 1 < 8) {
      const std::uint64_t digits = leading_digits(text.data(), text.size());
      if (are_digits(digits)) return static_cast<std::int64_t>(eight_digits(digits));
    }
  }
  return std::nullopt;
}

/// A finite number; empty for NaN, Infinity, None and all else that is not one.
inline std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

}  // namespace gf::kineto
