// What reports write: the numbers of core/format.h, levels, and texts that fit a width.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyze/result.h"
#include "core/format.h"
#include "core/printable.h"

namespace gf {

/// "31.2 %" when the level is fully known, else "31.2-40.1 %".
std::string format_level(const Level& level);
/// "412.3 TFLOP/s", "3.2 GB/s": four significant digits before the unit.
std::string format_rate(double rate, std::string_view unit);
/// Things a second: "1 284", "5.31".
std::string format_per_second(double rate);
/// A reading in its catalog unit: "593 W", "1.05 TB/s", "1980 MHz", "57 °C" as "57 C"; a count of
/// other things with its unit.
std::string format_reading(double value, std::string_view unit);

/// Terminal columns of a UTF-8 text (code points; wide characters do not occur in what we print of
/// our own).
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

}  // namespace gf
