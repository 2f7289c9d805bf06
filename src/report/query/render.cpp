#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "report/csv/tables.h"
#include "report/json.h"
#include "report/query/query.h"
#include "report/summary.h"
#include "report/text/format.h"
#include "report/text/table.h"

namespace gf {

namespace {

std::string plain(const QueryValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* device = std::get_if<double>(&value)) return fmt::format("{}", *device);
  if (const auto* status = std::get_if<std::string>(&value)) return *status;
  return {};
}

/// As a table shows it: whole numbers in full, other reals with six significant digits.
std::string shown(const QueryValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return "NULL";
  if (const auto* device = std::get_if<double>(&value)) {
    if (std::abs(*device) < 1e15 && *device == std::trunc(*device))
      return fmt::format("{:.0f}", *device);
    return fmt::format("{:.6g}", *device);
  }
  return plain(value);
}

bool is_number(const QueryValue& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

std::string csv_field(const QueryValue& value) {
  if (!std::holds_alternative<std::string>(value)) return plain(value);
  std::string out;
  csv_cell(out, std::get<std::string>(value));
  if (out.empty()) return "\"\"";
  return out;  // NULL is an empty cell, an empty text two quotes
}

constexpr std::size_t kNarrow =
    12;  // a text column is not shortened below this before rows become blocks

std::string as_blocks(const QueryAnswer& answer, std::size_t rows, std::size_t width) {
  std::size_t names = 0;
  for (const auto& column : answer.columns) names = std::max(names, columns_of(column));
  std::string out;
  for (std::size_t row = 0; row < rows; ++row) {
    out += fmt::format("row {}\n", row + 1);
    for (std::size_t column = 0; column < answer.columns.size(); ++column)
      out += fmt::format("  {}{:{}}  {}\n", answer.columns[column], "",
                         names - columns_of(answer.columns[column]),
                         shorten_middle(shown(answer.rows[row][column]),
                                        width > names + 4 ? width - names - 4 : kNarrow));
  }
  return out;
}

Paint paint_of(const QueryValue& value) {
  return std::holds_alternative<std::monostate>(value) ? Paint::unknown : Paint::plain;
}

}  // namespace

std::string answer_text(const QueryAnswer& answer, const TextStyle& style, std::size_t max_rows) {
  std::size_t rows = answer.rows.size();
  if (max_rows > 0) rows = std::min(max_rows, rows);
  const auto width = static_cast<std::size_t>(style.width);
  std::vector<TableColumn> columns;
  std::size_t least = 0, full = 0;
  for (std::size_t column = 0; column < answer.columns.size(); ++column) {
    bool numbers = false, texts = false;
    std::size_t widest = columns_of(answer.columns[column]);
    for (std::size_t row = 0; row < rows; ++row) {
      const QueryValue& value = answer.rows[row][column];
      numbers |= is_number(value);
      texts |= std::holds_alternative<std::string>(value);
      widest = std::max(widest, columns_of(shown(value)));
    }
    Align align = Align::left;
    if (numbers && !texts) align = Align::right;
    columns.push_back({answer.columns[column], align, texts});
    full += widest + 2;
    if (texts) widest = std::min(widest, kNarrow);
    least += widest + 2;
  }
  std::string out;
  if (least > width + 2) {
    out = as_blocks(answer, rows, width);
  } else {
    TextTable table(columns);
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<Cell> cells;
      for (const QueryValue& cell : answer.rows[row])
        cells.emplace_back(shown(cell), paint_of(cell));
      table.add(std::move(cells));
    }
    out = table.render(style, 0);
  }
  if (rows < answer.rows.size())
    out += fmt::format("({} of {}; --rows 0 shows all)\n",
                       format_count(static_cast<std::int64_t>(rows)),
                       plural(answer.rows.size(), "row"));
  else
    out += fmt::format("({})\n", plural(static_cast<std::int64_t>(rows), "row"));
  if (answer.window) out += fmt::format("(analysis of {})\n", window_label(*answer.window));
  if (full > width + 2 && rows > 0)
    out += "(texts are shortened to fit; --format csv or json gives them whole)\n";
  return out;
}

std::string answer_json(const QueryAnswer& answer) {
  std::string out = R"({"schema":"gpufathom.query/1","columns":)";
  to_json(out, answer.columns);
  out += ",\"rows\":[";
  for (std::size_t row = 0; row < answer.rows.size(); ++row) {
    if (row) {
      out += ",\n[";
    } else {
      out += "\n[";
    }
    for (std::size_t column = 0; column < answer.columns.size(); ++column) {
      if (column) out += ',';
      std::visit(
          [&](const auto& value) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::monostate>)
              out += "null";
            else
              to_json(out, value);
          },
          answer.rows[row][column]);
    }
    out += ']';
  }
  out += ']';
  if (const auto& window = answer.window)
    out += fmt::format(
        R"(,"window":{{"kind":"{}","start_ns":{},"end_ns":{},"duration_ns":{},"steps":{}}})",
        name_of(window->kind), window->start_ns, window->end_ns, window->duration_ns,
        window->steps.size());
  return out += "}\n";
}

std::string answer_csv(const QueryAnswer& answer) {
  std::string out;
  for (std::size_t column = 0; column < answer.columns.size(); ++column)
    (out += (column > 0 ? "," : "")) += csv_field(answer.columns[column]);
  out += '\n';
  for (const auto& row : answer.rows) {
    for (std::size_t column = 0; column < row.size(); ++column)
      (out += (column > 0 ? "," : "")) += csv_field(row[column]);
    out += '\n';
  }
  return out;
}

}  // namespace gf
