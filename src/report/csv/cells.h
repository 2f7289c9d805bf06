// One cell of a CSV table.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/append_number.h"
#include "model/enums.h"

namespace gf {

/// Whether a spreadsheet would take a text for a formula, and run it.
inline bool looks_like_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
}

/// Quoted only when it has to be; after an apostrophe, which spreadsheets do not show, when it
/// would be taken for a formula.
inline void csv_cell(std::string& out, std::string_view text) {
  if (looks_like_formula(text)) {
    csv_cell(out, "'" + std::string(text));
    return;
  }
  if (text.find_first_of("\",\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char letter : text) {
    if (letter == '"') out += '"';
    out += letter;
  }
  out += '"';
}
template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
void csv_cell(std::string& out, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) return;
  }
  append_number(out, value);
}
template <NamedEnum E>
void csv_cell(std::string& out, E value) {
  csv_cell(out, name_of(value));
}
template <class T>
void csv_cell(std::string& out, const std::optional<T>& value) {
  if (value) csv_cell(out, *value);
}

}  // namespace gf
