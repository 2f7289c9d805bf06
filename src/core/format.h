// Numbers as people read them. "No data" is said, never shown as 0.
// Numbers as text, for writers of whole documents: the formatter is compiled once, not in each.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/time.h"

namespace gf {

// For tables: digits that can be compared.

/// "98.02 ms": four significant digits in the unit that fits (ns, us, ms, s, min, h).
std::string format_time(Nanos ns);
/// "98.02 mJ": like format_time(), for energy in nanojoules (nJ, uJ, mJ, J, kJ).
std::string format_energy(std::int64_t nanojoules);
/// "31.2 %"; "no data" when empty; "<0.1 %" for a small share that is not zero.
std::string format_share(std::optional<double> share);
/// "35-63 %", and "35 %" where both are shown as the same.
std::string format_share_range(std::optional<double> low, std::optional<double> high);
/// "2 781": groups of three digits.
std::string format_count(std::int64_t count);
/// "51.3 MB", powers of ten.
std::string format_bytes(std::int64_t bytes);
/// "1 kernel", "2 781 kernels".
std::string plural(std::int64_t count, std::string_view noun);
template <std::unsigned_integral Count>
std::string plural(Count count, std::string_view noun) {
  return plural(static_cast<std::int64_t>(count), noun);
}

// For sentences: as few digits as the sentence needs.

/// "12.3 ms".
std::string say_time(Nanos ns);
/// "45 %", "0.3 %".
std::string say_share(double share);
/// "1 byte", "115.6 MB", powers of ten.
std::string say_bytes(std::int64_t bytes);

/// The shortest text that reads back to the same double; "nan" and "inf" are the caller's affair.
void append_real(std::string& out, double value);
void append_signed(std::string& out, std::int64_t value);
void append_unsigned(std::string& out, std::uint64_t value);

template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
void append_number(std::string& out, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    append_real(out, static_cast<double>(value));
  } else if constexpr (std::is_signed_v<T>) {
    append_signed(out, value);
  } else {
    append_unsigned(out, value);
  }
}

}  // namespace gf
