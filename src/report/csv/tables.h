// One cell of a CSV table.
// Tables as CSV (RFC 4180): what the capture holds, and what the analysis found. What is not known
// is an empty cell.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "analyze/context.h"
#include "analyze/result.h"
#include "core/error.h"
#include "core/format.h"
#include "model/capture.h"
#include "model/enums.h"

namespace gf {

/// True if a spreadsheet would take a text for a formula, and run it.
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
  requires requires(std::string& out, const T& value) { csv_cell(out, value); }
void csv_cell(std::string& out, const std::optional<T>& value) {
  if (value) csv_cell(out, *value);
}

/// Takes one finished table: its name (without ".csv") and its bytes, in pieces; `last` with the
/// last one.
using CsvSink = std::function<Status(std::string_view table, std::string_view bytes, bool last)>;

/// Every table of the capture that has rows: host_ops, activities, ... Row numbers of other tables
/// count from 0.
Status write_capture_csv(const Capture& capture, const CsvSink& sink);
/// analyzed_window, analyzed_steps, kernels, layers, layer_types, idle_causes, waterfall, levels,
/// findings.
Status write_analysis_csv(const Analysis& analysis, const CsvSink& sink);
/// idle_pieces: the idle time of every device, stretch by stretch.
Status write_idle_csv(const Context& context, const CsvSink& sink);

}  // namespace gf
