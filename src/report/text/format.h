// Formats for reports: the numbers of core/format.h, levels, and texts that fit a width.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/result.h"
#include "core/format.h"
#include "core/text.h"

namespace gf {

// The style of a text report, by where it goes.
// Color by meaning, so that every report paints the same thing the same way.

struct TextStyle {
  int width = 80;       // columns that a line may have
  bool colour = false;  // ANSI colors
  bool utf8 = false;    // block characters for bars; plain ASCII without
};

enum class Paint { plain, title, strong, dim, good, warn, bad, used, unknown };

/// `text` in the color of its meaning; unchanged when the style has no color.
std::string paint(const TextStyle& style, Paint how, std::string_view text);

/// "31.2 %" when the level is fully known, else "31.2-40.1 %".
std::string format_level(const Level& level);
/// "412.3 TFLOP/s", "3.2 GB/s": four significant digits before the unit.
std::string format_rate(double rate, std::string_view unit);
/// Things a second: "1 284", "5.31".
std::string format_per_second(double rate);
/// A reading in its catalog unit: "593 W", "1.05 TB/s", "1980 MHz", "57 °C" as "57 C"; a count of
/// other things with its unit.
std::string format_reading(double value, std::string_view unit);

/// Terminal columns of a UTF-8 text, in which letters of East Asia take two.
std::size_t columns_of(std::string_view utf8);
/// The text in at most `width` columns; what is cut goes from the middle, where kernel names say
/// least.
std::string shorten_middle(std::string_view text, std::size_t width);
/// A shell command in lines of at most `width` columns that can be copied as they are: a line that
/// goes on ends with a backslash, between words or after a comma.
std::string wrap_command(std::string_view command, std::size_t width);
/// wrap(), but a command of Nsight Compute at the end stands alone at the margin, so that it can be
/// copied.
std::string wrap_with_command(std::string_view text, std::size_t width, std::size_t indent);
/// Paragraph of `text` in lines of at most `width` columns, every line after `indent` spaces.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0);

// Cells of values that may have no data.

/// format(value) of a value that is known, else `missing`.
template <class Value, class Format>
std::string known_or(std::string_view missing, const std::optional<Value>& value, Format&& format) {
  return !value ? std::string(missing) : format(*value);
}

/// format_time() of a mean, which is no whole number.
inline std::string format_mean_time(double ns) { return format_time(std::llround(ns)); }

// GPUs of a machine that did the same share lines: what a reader looks for is the one that did not.

/// Within 2 % of the larger; shares within a point.
inline bool nearly_equal(double left, double right) {
  return std::abs(left - right) <= std::max(0.02 * std::max(std::abs(left), std::abs(right)), 0.01);
}

/// Neighbors that are alike to the first of them, by `same(first, other)`.
template <class T, class Same>
std::vector<std::span<const T>> runs_alike(const std::vector<T>& all, Same same) {
  std::vector<std::span<const T>> runs;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (runs.empty() || !same(runs.back().front(), all[i]))
      runs.emplace_back(&all[i], 1);
    else
      runs.back() = {runs.back().data(), runs.back().size() + 1};
  }
  return runs;
}

/// "GPU 3", or "GPU 0-15" of several.
inline std::string gpu_numbers(std::int64_t first, std::int64_t last) {
  if (first == last) return fmt::format("GPU {}", first);
  return fmt::format("GPU {}-{}", first, last);
}

}  // namespace gf
