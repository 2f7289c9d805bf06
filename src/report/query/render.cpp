#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/csv/cells.h"
#include "report/json.h"
#include "report/query/query.h"
#include "report/text/format.h"
#include "report/text/table.h"

namespace gf {

namespace {

std::string plain(const QueryValue& v) {
  if (const auto* i = std::get_if<std::int64_t>(&v)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&v)) return fmt::format("{}", *d);
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  return {};
}

/// As a table shows it: whole numbers in full, other reals with six significant digits.
std::string shown(const QueryValue& v) {
  if (std::holds_alternative<std::monostate>(v)) return "NULL";
  if (const auto* d = std::get_if<double>(&v))
    return std::abs(*d) < 1e15 && *d == std::trunc(*d) ? fmt::format("{:.0f}", *d)
                                                       : fmt::format("{:.6g}", *d);
  return plain(v);
}

bool is_number(const QueryValue& v) {
  return std::holds_alternative<std::int64_t>(v) || std::holds_alternative<double>(v);
}

std::string csv_field(const QueryValue& v) {
  if (!std::holds_alternative<std::string>(v)) return plain(v);
  std::string out;
  csv_cell(out, std::get<std::string>(v));
  return out.empty() ? "\"\"" : out;  // NULL is an empty cell, an empty text two quotes
}

constexpr std::size_t kNarrow =
    12;  // a text column is not shortened below this before rows become blocks

std::string as_blocks(const QueryAnswer& a, std::size_t rows, std::size_t width) {
  std::size_t names = 0;
  for (const auto& c : a.columns) names = std::max(names, columns_of(c));
  std::string out;
  for (std::size_t r = 0; r < rows; ++r) {
    out += fmt::format("row {}\n", r + 1);
    for (std::size_t c = 0; c < a.columns.size(); ++c)
      out += fmt::format(
          "  {}{:{}}  {}\n", a.columns[c], "", names - columns_of(a.columns[c]),
          shorten_middle(shown(a.rows[r][c]), width > names + 4 ? width - names - 4 : kNarrow));
  }
  return out;
}

}  // namespace

std::string answer_text(const QueryAnswer& a, const TextStyle& style, std::size_t max_rows) {
  const std::size_t rows = max_rows == 0 ? a.rows.size() : std::min(max_rows, a.rows.size()),
                    width = static_cast<std::size_t>(style.width);
  std::vector<TableColumn> columns;
  std::size_t least = 0, full = 0;
  for (std::size_t c = 0; c < a.columns.size(); ++c) {
    bool numbers = false, texts = false;
    std::size_t widest = columns_of(a.columns[c]);
    for (std::size_t r = 0; r < rows; ++r) {
      const QueryValue& v = a.rows[r][c];
      numbers |= is_number(v);
      texts |= std::holds_alternative<std::string>(v);
      widest = std::max(widest, columns_of(shown(v)));
    }
    columns.push_back({a.columns[c], numbers && !texts ? Align::right : Align::left, texts});
    full += widest + 2;
    least += (texts ? std::min(widest, kNarrow) : widest) + 2;
  }
  std::string out;
  if (least > width + 2) {
    out = as_blocks(a, rows, width);
  } else {
    TextTable table(columns);
    for (std::size_t r = 0; r < rows; ++r) {
      std::vector<Cell> cells;
      for (const QueryValue& v : a.rows[r])
        cells.emplace_back(
            shown(v), std::holds_alternative<std::monostate>(v) ? Paint::unknown : Paint::plain);
      table.add(std::move(cells));
    }
    out = table.render(style, 0);
  }
  if (rows < a.rows.size())
    out += fmt::format("({} of {}; --rows 0 shows all)\n",
                       format_count(static_cast<std::int64_t>(rows)),
                       plural(static_cast<std::int64_t>(a.rows.size()), "row"));
  else
    out += fmt::format("({})\n", plural(static_cast<std::int64_t>(rows), "row"));
  if (full > width + 2 && rows > 0)
    out += "(texts are shortened to fit; --format csv or json gives them whole)\n";
  return out;
}

std::string answer_json(const QueryAnswer& a) {
  std::string out = R"({"schema":"gpufathom.query/1","columns":)";
  to_json(out, a.columns);
  out += ",\"rows\":[";
  for (std::size_t r = 0; r < a.rows.size(); ++r) {
    out += r ? ",\n[" : "\n[";
    for (std::size_t c = 0; c < a.columns.size(); ++c) {
      if (c) out += ',';
      std::visit(
          [&](const auto& v) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(v)>, std::monostate>)
              out += "null";
            else
              to_json(out, v);
          },
          a.rows[r][c]);
    }
    out += ']';
  }
  return out += "]}\n";
}

std::string answer_csv(const QueryAnswer& a) {
  std::string out;
  for (std::size_t c = 0; c < a.columns.size(); ++c)
    (out += c ? "," : "") += csv_field(a.columns[c]);
  out += '\n';
  for (const auto& row : a.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) (out += c ? "," : "") += csv_field(row[c]);
    out += '\n';
  }
  return out;
}

}  // namespace gf
