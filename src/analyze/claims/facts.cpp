#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "analyze/claims/claims.h"
#include "analyze/energy/json_fields.h"
#include "core/files.h"
#include "model/metrics.h"

namespace gf {

namespace {

/// Texts that tell rows apart; others ("date", "note") do not.
constexpr std::array<std::string_view, 7> kNames{"model",     "gpu",  "framework", "mode",
                                                 "precision", "name", "bench"};
constexpr std::uint64_t kMostBytes = 64 << 20;  // a table of results is small; its rows are not
constexpr double kMuchTensor = 0.12;            // of the issue slots, figure 8 of DATE 2024

bool is_name(std::string_view key) {
  return std::find(kNames.begin(), kNames.end(), key) != kNames.end();
}

void add_numbers(const JsonElement& element, const std::string& path, FactRow& row) {
  simdjson::dom::object object;
  double number = 0;
  if (!element.get_double().get(number)) {
    row.numbers[path] = number;
  } else if (!element.get_object().get(object)) {
    for (const auto field : object)
      add_numbers(field.value, fmt::format("{}.{}", path, field.key), row);
  } else {
    for (const JsonElement& part : json_items(element))
      if (const std::string of = json_text(part, "component"); !of.empty())
        add_numbers(part, fmt::format("{}.{}", path, of), row);
  }
}

/// "resnet50.amp.eager" is a model with its precision and mode, whatever else the row calls its
/// model; "torch.profiler" is a name.
void read_name(FactRow& row) {
  const auto name = row.words.find("name");
  if (name == row.words.end()) return;
  SweepRun run;
  read_axes_from_name(name->second, run);
  if (run.precision.empty()) return;
  for (const auto& axis : sweep_axes())
    if (!(run.*(axis.member)).empty()) row.words[std::string(axis.name)] = run.*(axis.member);
  row.words.erase(name);
}

std::string name_of_row(const FactRow& row, const std::string& given) {
  std::string name = given;
  if (name.empty())
    for (const auto key : kNames)
      if (const auto word = row.words.find(key); word != row.words.end())
        name +=
            (!name.empty() ? " " : "") + (key == "gpu" ? gpu_in_names(word->second) : word->second);
  for (const auto& [key, letter] : {std::pair{"batch", "b"}, std::pair{"threads", "t"}})
    if (const auto number = row.numbers.find(key); number != row.numbers.end())
      name += fmt::format("{}{}{:.0f}", !name.empty() ? " " : "", letter, number->second.value);
  return name;
}

FactRow row_of(const JsonElement& element, const std::string& table, const std::string& file) {
  FactRow row;
  simdjson::dom::object object;
  if (element.get_object().get(object)) return row;
  for (const auto field : object) {
    std::string_view text;
    const std::string key(field.key);
    if (!field.value.get_string().get(text)) {
      if (is_name(key) && !text.empty()) row.words[key] = text;
    } else {
      add_numbers(field.value, key, row);
    }
  }
  std::string given = json_text(element, "name");
  if (given.empty()) given = json_text(element, "level");
  read_name(row);
  row.words["table"] = table;
  row.words["file"] = file;
  row.name = name_of_row(row, given);
  return row;
}

/// An object that holds objects alone is a list of rows, each named by its key.
void add_named(const simdjson::dom::object& object, const std::string& table,
               const std::string& file, std::vector<FactRow>& rows) {
  for (const auto field : object)
    if (!field.value.is_object()) return;
  for (const auto field : object) {
    FactRow row = row_of(field.value, table, file);
    row.words.try_emplace("name", field.key);
    if (row.name.empty()) row.name = field.key;
    if (!row.numbers.empty()) rows.push_back(std::move(row));
  }
}

void add_tables(const JsonElement& element, const std::string& path, const std::string& file,
                std::vector<FactRow>& rows) {
  simdjson::dom::object object;
  if (!element.get_object().get(object)) {
    add_named(object, path, file, rows);
    for (const auto field : object)
      add_tables(field.value, path + (!path.empty() ? "." : "") + std::string(field.key), file,
                 rows);
    return;
  }
  for (const JsonElement& item : json_items(element))
    if (FactRow row = row_of(item, path, file); !row.numbers.empty())
      rows.push_back(std::move(row));
}

/// Tables of one file about the same runs (of a model at a batch) complete each other. Where a
/// table has several rows of a run none is meant.
void join_tables(std::vector<FactRow>& rows) {
  std::map<std::string, std::vector<std::size_t>> runs;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const auto batch = rows[at].numbers.find("batch");
    if (batch == rows[at].numbers.end() || !rows[at].words.contains("model")) continue;
    std::string key = fmt::format("{}", batch->second.value);
    for (const auto& [word, value] : rows[at].words)
      if (word != "table") key += fmt::format("\n{}={}", word, value);
    runs[key].push_back(at);
  }
  for (const auto& [key, members] : runs)
    for (const auto other : members) {
      const std::string& table = rows[other].words.at("table");
      const auto same = [&](std::size_t at) { return rows[at].words.at("table") == table; };
      if (std::count_if(members.begin(), members.end(), same) != 1) continue;
      for (const auto at : members)
        if (at != other)
          for (const auto& [name, number] : rows[other].numbers)
            if (name.find(':') == std::string::npos)
              rows[at].numbers[fmt::format("{}:{}", table, name)] = number;
    }
}

void add_number(FactRow& row, const char* name, auto value) {
  if (value) row.numbers[name] = static_cast<double>(*value);
}

Share memory_share(const SweepRun& run) {
  if (!run.memory_bytes || !run.gpu_memory_bytes) return {};
  return static_cast<double>(*run.memory_bytes) / static_cast<double>(*run.gpu_memory_bytes);
}

/// What the kernels of a series say belongs to the run that they are of.
void add_kernels(FactRow& row, const SweepSeries& series, const SweepRun& run) {
  for (const auto& level : run.spreads)
    if (level.id == "issue.active"_metric) row.numbers["kernels.highest_issue"] = level.spread.max;
  add_number(row, "kernels.no_tensor_instruction", series.instances_without_tensor_instructions);
  add_number(row, "kernels.no_matrix_instruction", series.instances_without_tensor);
  add_number(row, "kernels.packed_instructions", series.packed_instructions);
  add_number(row, "kernels.time_no_tensor_instruction", series.time_without_tensor_instructions);
  if (series.curve_level != "tensor.issue"_metric) return;
  double below = 0;
  for (const auto& point : series.tensor_curve)
    if (point.utilization <= kMuchTensor) below = point.time_share;
  row.numbers["kernels.time_above_12_percent"] = 1 - below;
}

}  // namespace

Result<std::vector<FactRow>> read_facts(const std::string& path) {
  const auto content = read_small_file(path, kMostBytes);
  if (!content) return tl::unexpected(content.error());
  JsonReader reader;
  const auto root = reader.parse(*content);
  if (!root) return fail("is not JSON", path, -1, "docs/claims.md names the tables of each study");
  if (auto row = fact_of_answer(*content, {}, std::filesystem::path(path).filename().string())) {
    return std::vector<FactRow>{std::move(*row)};
  }
  std::vector<FactRow> rows;
  add_tables(*root, "", std::filesystem::path(path).filename().string(), rows);
  join_tables(rows);
  return rows;
}

std::vector<FactRow> facts_of(const Sweep& sweep) {
  std::vector<FactRow> rows;
  for (const auto& series : sweep.series) {
    double filled = 0;  // of the memory, by the largest batch of the series
    for (const auto at : series.runs)
      filled = std::max(filled, memory_share(sweep.runs[static_cast<std::size_t>(at)]).value_or(0));
    for (const auto at : series.runs) {
      const SweepRun& run = sweep.runs[static_cast<std::size_t>(at)];
      FactRow row;
      for (const auto& axis : sweep_axes())
        if (!(run.*(axis.member)).empty()) row.words[std::string(axis.name)] = run.*(axis.member);
      add_number(row, "batch", run.batch);
      add_number(row, "throughput", run.throughput);
      if (run.throughput && run.fastest_ns && run.slowest_ns) {
        const auto step = static_cast<double>(*run.step_ns);
        row.numbers["throughput"] = {*run.throughput,
                                     *run.throughput * step / static_cast<double>(*run.slowest_ns),
                                     *run.throughput * step / static_cast<double>(*run.fastest_ns)};
      }
      add_number(row, "memory_bytes", run.memory_bytes);
      add_number(row, "memory_share", memory_share(run));
      if (filled > 0) row.numbers["memory_filled"] = filled;
      add_number(row, "spread", run.spread);
      add_number(row, "deviation", run.deviation);
      if (run.repeats > 0) row.numbers["repeats"] = static_cast<double>(run.repeats);
      for (const auto& level : run.levels)
        if (level.value)
          row.numbers[level.id] = {*level.value, level.least.value_or(*level.value),
                                   level.most.value_or(*level.value)};
      if (at == series.kernels_run) add_kernels(row, series, run);
      row.name = series.name;
      if (run.batch) row.name += fmt::format(" b{}", *run.batch);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace gf
