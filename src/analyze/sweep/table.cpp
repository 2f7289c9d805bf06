#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "analyze/energy/json_fields.h"
#include "analyze/layers/layer_type.h"
#include "analyze/sweep/sweep.h"
#include "core/files.h"
#include "core/nearest.h"
#include "model/metrics.h"

namespace gf {

namespace {

/// A level is a number or, as studies write it, an object with its mean.
Share level_value(const JsonElement& element) {
  double number = 0;
  if (!element.get_double().get(number)) return number;
  const double mean = json_number(element, "mean");
  if (std::isnan(mean)) return {};
  return mean;
}

std::vector<SweepLevel> levels_in(const JsonElement& holder) {
  std::vector<SweepLevel> levels;
  const auto found = json_field(holder, "levels");
  simdjson::dom::object object;
  if (!found || found->get_object().get(object)) return levels;
  for (const auto field : object)
    if (const Share value = level_value(field.value))
      levels.push_back({std::string(field.key), value});
  return levels;
}

void read_measurements(const JsonElement& row, SweepRow& out) {
  SweepRun& run = out.input.run;
  for (auto& level : levels_in(row)) run.levels.push_back(std::move(level));
  std::map<std::string, std::vector<double>> repeats;
  for (const JsonElement& repeat : json_items(row, "runs")) {
    const double seconds = json_number(repeat, "step_s");
    if (seconds > 0) out.input.step_seconds.push_back(seconds);
    for (const auto& level : levels_in(repeat)) repeats[level.id].push_back(*level.value);
    if (const double joules = json_number(repeat, "joules"); joules > 0)
      out.input.step_joules.push_back(joules);
  }
  for (const auto& [id, values] : repeats)
    set_repeats(values, run.levels.emplace_back(SweepLevel{id}));
  for (const JsonElement& kernel : json_items(row, "kernels"))
    out.input.kernels.push_back({json_integer(kernel, "count"), json_integer(kernel, "ns"),
                                 levels_in(kernel), layer_of_kernel(json_text(kernel, "name"))});
}

/// A cell as a complaint shows it: of a file that is no table it may be anything.
std::string shown_cell(const std::string& cell) {
  constexpr std::size_t kMost = 40;
  return cell.size() > kMost ? cell.substr(0, kMost) + ".." : cell;
}

/// The cells of one line; quotes hold separators, and two of them stand for one.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    if (letter == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += '"';
      ++i;
    } else if (letter == '"') {
      quoted = !quoted;
    } else if (letter == ',' && !quoted) {
      cells.emplace_back();
    } else if (letter != '\r') {
      cells.back() += letter;
    }
  }
  return cells;
}

/// A column of numbers from `least` on.
struct NumberColumn {
  std::string_view name;
  double least;
  void (*put)(SweepRow& row, double number);
};

constexpr double kAboveZero = std::numeric_limits<double>::min();

constexpr NumberColumn kNumbers[] = {
    {"batch", 1, [](SweepRow& row, double number) { row.input.run.batch = std::llround(number); }},
    {"step_s", kAboveZero, [](SweepRow& row, double number) { row.input.step_seconds = {number}; }},
    {"joules", kAboveZero, [](SweepRow& row, double number) { row.input.step_joules = {number}; }},
    {"throughput", kAboveZero,
     [](SweepRow& row, double number) { row.input.run.throughput = number; }},
    {"memory_bytes", 0,
     [](SweepRow& row, double number) { row.input.run.memory_bytes = std::llround(number); }},
    {"gpu_memory_bytes", kAboveZero,
     [](SweepRow& row, double number) { row.input.run.gpu_memory_bytes = std::llround(number); }},
    {"flops_per_item", kAboveZero,
     [](SweepRow& row, double number) { row.input.flops_per_item = number; }},
};

constexpr std::pair<std::string_view, std::string SweepRow::*> kFiles[] = {
    {"capture", &SweepRow::capture},
    {"counters", &SweepRow::counters},
    {"window", &SweepRow::window}};

std::vector<std::string> known_columns() {
  std::vector<std::string> known;
  for (const auto& [name, member] : kFiles) known.emplace_back(name);
  for (const auto& column : kNumbers) known.emplace_back(column.name);
  for (const auto& axis : sweep_axes()) known.emplace_back(axis.name);
  return known;
}

/// Complains about a column that is none of a table, or stands there twice; empty: all are good.
std::string wrong_column(const std::vector<std::string>& header) {
  const auto known = known_columns();
  for (const auto& column : header) {
    if (column.empty()) continue;
    if (std::ranges::count(header, column) > 1)
      return fmt::format("\"{}\" is the name of several columns", shown_cell(column));
    if (!find_metric(column) && std::ranges::find(known, column) == known.end())
      return fmt::format("\"{}\" is no column of a table, nor a metric{}", shown_cell(column),
                         did_you_mean(column, known));
  }
  return {};
}

/// Puts one cell where its column says; false when it is no number, or none such, and should be.
bool take_cell(std::string_view column, const std::string& cell, SweepRow& row) {
  for (const auto& axis : sweep_axes())
    if (axis.name == column) {
      row.input.run.*(axis.member) = cell;
      return true;
    }
  for (const auto& [name, member] : kFiles)
    if (name == column) {
      row.*member = cell;
      return true;
    }
  double number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(number))
    return false;
  const auto* const known = std::ranges::find(kNumbers, column, &NumberColumn::name);
  if (known == std::end(kNumbers)) {
    row.input.run.levels.push_back({std::string(column), number});
    return true;
  }
  // Beyond that a whole number has no room for it.
  if (number < known->least || number > 1e18) return false;
  known->put(row, number);
  return true;
}

/// A cell of JSON as one of CSV has it; empty: no data.
std::string cell_text(const JsonElement& value) {
  std::int64_t whole = 0;
  double number = 0;
  std::string_view text;
  if (!value.get_int64().get(whole)) return fmt::format("{}", whole);
  if (!value.get_double().get(number)) return fmt::format("{}", number);
  if (!value.get_string().get(text)) return std::string(text);
  return value.is_null() ? "" : simdjson::minify(value);
}

tl::unexpected<Error> no_number(std::string_view where, const std::string& cell,
                                std::string_view column, const std::string& path) {
  return fail(
      fmt::format("{}: \"{}\" under {} is not a valid number", where, shown_cell(cell), column),
      path, -1, "numbers are plain: 64, 0.0123");
}

/// The cells of an object, which has keys of its own besides.
Status take_cells(const JsonElement& object, std::string_view where, const std::string& path,
                  SweepRow& row) {
  simdjson::dom::object fields;
  if (object.get_object().get(fields)) return {};
  static const auto known = known_columns();
  for (const auto field : fields) {
    const bool column = std::ranges::find(known, field.key) != known.end();
    const auto cell = column || find_metric(field.key) ? cell_text(field.value) : std::string();
    if (!cell.empty() && !take_cell(field.key, cell, row))
      return no_number(where, cell, field.key, path);
  }
  return {};
}

Result<std::vector<SweepRow>> from_json(const std::string& path, std::string_view text) {
  JsonReader reader;
  const auto table = reader.parse(text);
  if (!table) return fail("not a table in JSON", path, -1, "see docs/sweep.md for its layout");
  auto items = json_items(*table, "rows");
  if (items.empty()) items = json_items(*table);
  SweepRow of_all;
  if (const auto taken = take_cells(*table, "outside the rows", path, of_all); !taken)
    return tl::unexpected(taken.error());
  std::vector<SweepRow> rows;
  for (std::size_t i = 0; i < items.size(); ++i) {
    bool too_large = false;
    if (!items[i]["out_of_memory"].get_bool().get(too_large) && too_large) continue;
    SweepRow row = of_all;
    if (const auto taken = take_cells(items[i], fmt::format("row {}", i + 1), path, row); !taken)
      return tl::unexpected(taken.error());
    read_measurements(items[i], row);
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<SweepRow>> from_csv(const std::string& path, std::string_view text) {
  std::vector<SweepRow> rows;
  std::vector<std::string> header;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto cells = cells_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (cells.size() == 1 && cells[0].empty()) continue;
    if (header.empty()) {
      header = cells;
      if (const auto wrong = wrong_column(header); !wrong.empty())
        return fail(fmt::format("line {}: {}", number, wrong), path, -1,
                    "see docs/sweep.md for its layout");
      continue;
    }
    SweepRow row;
    for (std::size_t i = header.size(); i < cells.size(); ++i)
      if (!cells[i].empty())
        return fail(fmt::format("line {}: \"{}\" is under no column", number, shown_cell(cells[i])),
                    path, -1, "decimals have a point, and texts with commas quotes");
    for (std::size_t i = 0; i < std::min(cells.size(), header.size()); ++i)
      if (!cells[i].empty() && !take_cell(header[i], cells[i], row))
        return no_number(fmt::format("line {}", number), cells[i], header[i], path);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<std::vector<SweepRow>> read_sweep_table(const std::string& path) {
  const auto content = read_small_file(path);
  if (!content) return tl::unexpected(content.error());
  std::string_view text = *content;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // as spreadsheets write it
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return fail("is empty", path, -1, "name a table of JSON or CSV");
  const bool json = text[begin] == '{' || text[begin] == '[';
  auto rows = json ? from_json(path, text) : from_csv(path, text);
  if (!rows) return rows;
  const auto folder = std::filesystem::path(path).parent_path();
  for (auto& row : *rows) {
    if (row.capture.empty())
      row.input.run.source = path;
    else
      row.capture = (folder / row.capture).string();
    if (!row.counters.empty()) row.counters = (folder / row.counters).string();
  }
  if (rows->empty()) return fail("has no rows", path, -1, "see docs/sweep.md for its layout");
  return rows;
}

}  // namespace gf
