// Numbers as people read them. "No data" is said, never shown as 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyze/result.h"
#include "core/printable.h"
#include "core/time.h"

namespace gf {

/// "98.02 ms": four significant digits in the unit that fits (ns, us, ms, s, min, h).
std::string format_time(Nanos ns);
/// "98.02 mJ": like format_time(), for energy in nanojoules (nJ, uJ, mJ, J, kJ).
std::string format_energy(std::int64_t nanojoules);
/// "31.2 %"; "no data" when empty; "<0.1 %" for a small share that is not zero.
std::string format_share(Share share);
/// "31.2 %" when the level is fully known, else "31.2-40.1 %".
std::string format_level(const Level& level);
/// "2 781": groups of three digits.
std::string format_count(std::int64_t count);
/// "51.3 MB", powers of ten.
std::string format_bytes(std::int64_t bytes);
/// A reading in its catalogue unit: "593 W", "1.05 TB/s", "1980 MHz", "57 °C" as "57 C"; a count of
/// other things with its unit.
std::string format_reading(double value, std::string_view unit);
/// "1 kernel", "2 781 kernels".
std::string plural(std::int64_t count, std::string_view noun);

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
