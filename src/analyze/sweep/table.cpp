#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
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

void read_number(const JsonElement& row, std::string_view name, std::optional<double>& out) {
  const double number = json_number(row, name);
  if (!std::isnan(number)) out = number;
}

void read_device_memory(const JsonElement& holder, SweepRun& run) {
  if (const double bytes = json_number(holder, "gpu_memory_bytes"); bytes > 0)
    run.gpu_memory_bytes = std::llround(bytes);
}

void read_measurements(const JsonElement& row, SweepRow& out) {
  SweepRun& run = out.input.run;
  run.levels = levels_in(row);
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
  if (const double seconds = json_number(row, "step_s"); seconds > 0)
    out.input.step_seconds.push_back(seconds);
  if (const double joules = json_number(row, "joules"); joules > 0)
    out.input.step_joules.push_back(joules);
  std::optional<double> memory;
  read_number(row, "throughput", run.throughput);
  read_number(row, "memory_bytes", memory);
  if (memory) run.memory_bytes = std::llround(*memory);
  read_device_memory(row, run);
  if (const double work = json_number(row, "flops_per_item"); work > 0)
    out.input.flops_per_item = work;
  for (const JsonElement& kernel : json_items(row, "kernels"))
    out.input.kernels.push_back({json_integer(kernel, "count"), json_integer(kernel, "ns"),
                                 levels_in(kernel), layer_of_kernel(json_text(kernel, "name"))});
}

Result<std::vector<SweepRow>> from_json(const std::string& path, std::string_view text) {
  JsonReader reader;
  const auto table = reader.parse(text);
  if (!table) return fail("not a table in JSON", path, -1, "see docs/sweep.md for its layout");
  auto items = json_items(*table, "rows");
  if (items.empty()) items = json_items(*table);
  std::vector<SweepRow> rows;
  for (const JsonElement& item : items) {
    bool too_large = false;
    if (!item["out_of_memory"].get_bool().get(too_large) && too_large) continue;
    SweepRow row;
    for (const auto& axis : sweep_axes()) {
      row.input.run.*(axis.member) = json_text(item, axis.name);
      if ((row.input.run.*(axis.member)).empty())
        row.input.run.*(axis.member) = json_text(*table, axis.name);
    }
    if (const std::int64_t batch = json_integer(item, "batch"); batch > 0)
      row.input.run.batch = batch;
    row.capture = json_text(item, "capture");
    row.counters = json_text(item, "counters");
    row.window = json_text(item, "window");
    read_device_memory(*table, row.input.run);
    read_measurements(item, row);
    rows.push_back(std::move(row));
  }
  return rows;
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

/// Complains about a column that is none of a table; empty: all are.
std::string unknown_column(const std::vector<std::string>& header) {
  std::vector<std::string> known{"capture",          "counters",      "window", "batch",
                                 "step_s",           "throughput",    "joules", "memory_bytes",
                                 "gpu_memory_bytes", "flops_per_item"};
  for (const auto& axis : sweep_axes()) known.emplace_back(axis.name);
  for (const auto& column : header)
    if (!column.empty() && !find_metric(column) && std::ranges::find(known, column) == known.end())
      return fmt::format("\"{}\" is no column of a table, nor a metric{}", shown_cell(column),
                         did_you_mean(column, known));
  return {};
}

/// Puts one cell where its column says; false when it is no number and should be.
bool take_cell(std::string_view column, const std::string& cell, SweepRow& row) {
  SweepRun& run = row.input.run;
  for (const auto& axis : sweep_axes())
    if (axis.name == column) {
      run.*(axis.member) = cell;
      return true;
    }
  const std::pair<std::string_view, std::string*> files[] = {
      {"capture", &row.capture}, {"counters", &row.counters}, {"window", &row.window}};
  for (const auto& [name, member] : files)
    if (name == column) {
      *member = cell;
      return true;
    }
  double number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(number))
    return false;
  if (column == "batch") {
    if (number < 1) return false;
    run.batch = std::llround(number);
  } else if (column == "step_s") {
    row.input.step_seconds.push_back(number);
  } else if (column == "joules") {
    row.input.step_joules.push_back(number);
  } else if (column == "throughput") {
    run.throughput = number;
  } else if (column == "memory_bytes") {
    run.memory_bytes = std::llround(number);
  } else if (column == "gpu_memory_bytes") {
    run.gpu_memory_bytes = std::llround(number);
  } else if (column == "flops_per_item") {
    row.input.flops_per_item = number;
  } else {
    run.levels.push_back({std::string(column), number});
  }
  return true;
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
      if (const auto wrong = unknown_column(header); !wrong.empty())
        return fail(fmt::format("line {}: {}", number, wrong), path, -1,
                    "see docs/sweep.md for its layout");
      continue;
    }
    SweepRow row;
    for (std::size_t i = 0; i < std::min(cells.size(), header.size()); ++i)
      if (!cells[i].empty() && !take_cell(header[i], cells[i], row))
        return fail(fmt::format("line {}: \"{}\" under {} is not a valid number", number,
                                shown_cell(cells[i]), header[i]),
                    path, -1, "numbers are plain: 64, 0.0123");
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
