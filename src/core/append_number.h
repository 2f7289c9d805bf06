// Numbers as text, for writers of whole documents: the formatter is compiled once, not in each.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

namespace gf {

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
