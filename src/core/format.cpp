#include "core/format.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace gf {

namespace {

/// Four significant digits without an exponent: 9.802, 98.02, 980.2.
std::string four_digits(double value) {
  const double size = std::abs(value);
  int decimals = 0;
  if (size < 9.9995) {
    decimals = 3;
  } else if (size < 99.995) {
    decimals = 2;
  } else if (size < 999.95) {
    decimals = 1;
  }
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string format_time(Nanos ns) {
  const double size = std::abs(static_cast<double>(ns));
  if (size < 1e3) return fmt::format("{} ns", ns);
  if (size < 999'950) return four_digits(static_cast<double>(ns) / 1e3) + " us";
  if (size < 999.95e6) return four_digits(static_cast<double>(ns) / 1e6) + " ms";
  if (size < 999.95e9) return four_digits(static_cast<double>(ns) / 1e9) + " s";
  if (size < 999.95 * 60e9) return four_digits(static_cast<double>(ns) / 60e9) + " min";
  return four_digits(static_cast<double>(ns) / 3600e9) + " h";
}

std::string format_energy(std::int64_t nj) {
  const double value = static_cast<double>(nj), size = std::abs(value);
  if (size < 1e3) return fmt::format("{} nJ", nj);
  if (size < 999'950) return four_digits(value / 1e3) + " uJ";
  if (size < 999.95e6) return four_digits(value / 1e6) + " mJ";
  return size < 999.95e9 ? four_digits(value / 1e9) + " J" : four_digits(value / 1e12) + " kJ";
}

std::string format_share_range(std::optional<double> low, std::optional<double> high) {
  const std::string from = fmt::format("{:.0f}", 100 * low.value_or(0));
  const std::string to = fmt::format("{:.0f} %", 100 * high.value_or(0));
  if (to.starts_with(from) && to.size() == from.size() + 2) return to;
  return fmt::format("{}-{}", from, to);
}

std::string format_share(std::optional<double> share) {
  if (!share || !std::isfinite(*share)) return "no data";
  const double percent = *share * 100;
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  return fmt::format("{:.1f} %", percent);
}

std::string format_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, 1, ' ');
  return digits;
}

std::string format_bytes(std::int64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (bytes < 1000) return fmt::format("{} B", bytes);
  if (size < 999.95e3) return fmt::format("{:.1f} kB", size / 1e3);
  if (size < 999.95e6) return fmt::format("{:.1f} MB", size / 1e6);
  if (size < 999.95e9) return fmt::format("{:.2f} GB", size / 1e9);
  return fmt::format("{:.2f} TB", size / 1e12);
}

std::string plural(std::int64_t count, std::string_view noun) {
  std::string text = format_count(count) + " " + std::string(noun);
  if (count == 1) return text;
  if (noun.ends_with("ity")) return text.replace(text.size() - 1, 1, "ies");
  return text + (noun.ends_with("ch") || noun.ends_with("sh") || noun.ends_with("s") ? "es" : "s");
}

std::string say_time(Nanos ns) {
  const double time = static_cast<double>(ns);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  if (ns < kNsPerMs) return fmt::format("{:.3g} us", time / 1e3);
  if (ns < kNsPerSecond) return fmt::format("{:.3g} ms", time / 1e6);
  return fmt::format("{:.4g} s", time / 1e9);
}

std::string say_share(double share) {
  if (share > 0 && share < 0.1) return fmt::format("{:.1f} %", share * 100);
  return fmt::format("{:.0f} %", share * 100);
}

std::string say_bytes(std::int64_t bytes) {
  const double size = static_cast<double>(bytes);
  if (bytes < 1000) return plural(bytes, "byte");
  if (size < 1e6) return fmt::format("{:.1f} kB", size / 1e3);
  if (size < 1e9) return fmt::format("{:.1f} MB", size / 1e6);
  return fmt::format("{:.2f} GB", size / 1e9);
}

void append_real(std::string& out, double value) {
  // Most are whole: counts and nanoseconds, which the formatter writes alike. It writes 1e16 with
  // an exponent, and the sign of -0.
  constexpr double kWhole = 1e15;
  if (std::abs(value) < kWhole && !(value == 0 && std::signbit(value)))
    if (const auto whole = static_cast<std::int64_t>(value); static_cast<double>(whole) == value)
      return append_signed(out, whole);
  constexpr std::size_t kMostLetters = 32;  // of 17 digits, a sign, a point and an exponent
  std::array<char, kMostLetters> text;
  out.append(text.data(), fmt::format_to(text.data(), FMT_COMPILE("{}"), value));
}
void append_signed(std::string& out, std::int64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}
void append_unsigned(std::string& out, std::uint64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}

}  // namespace gf
