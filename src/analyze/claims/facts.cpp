#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "analyze/claims/claims.h"
#include "analyze/energy/json_fields.h"
#include "core/text.h"
#include "model/metrics.h"

namespace gf {

namespace {

/// Texts that tell rows apart; others ("date", "note") do not.
constexpr std::array<std::string_view, 9> kNames{"model", "gpu",   "framework", "mode", "precision",
                                                 "name",  "bench", "probe",     "queue"};
constexpr double kMuchTensor = 0.12;  // of the issue slots, figure 8 of DATE 2024

bool is_name(std::string_view key) {
  return std::find(kNames.begin(), kNames.end(), key) != kNames.end();
}

/// An item of a list: a number, or an object of numbers.
void add_to_lists(const JsonElement& item, const std::string& path, FactRow& row) {
  simdjson::dom::object object;
  double number = 0;
  if (!item.get_double().get(number)) {
    row.lists[path].push_back(number);
  } else if (!item.get_object().get(object)) {
    for (const auto field : object)
      if (!field.value.get_double().get(number))
        row.lists[fmt::format("{}.{}", path, field.key)].push_back(number);
  }
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
      else
        add_to_lists(part, path, row);
  }
}

/// "cpu_kernel=0.140 dequeue=0.026": numbers with names, in a text.
void add_named_numbers(std::string_view text, const std::string& path, FactRow& row) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equal = part.find('=');
    if (equal == std::string_view::npos) continue;
    double number = 0;
    const std::string_view digits = part.substr(equal + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size())
      row.numbers[fmt::format("{}.{}", path, part.substr(0, equal))] = number;
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
      add_named_numbers(text, key, row);
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

/// A JSON text a line, as `calibrate` writes its points: false where a line is none.
bool add_lines(std::string_view content, const std::string& file, std::vector<FactRow>& rows) {
  JsonReader reader;
  while (!content.empty()) {
    const std::string_view line = content.substr(0, content.find('\n'));
    content.remove_prefix(std::min(line.size() + 1, content.size()));
    if (trimmed(line).empty()) continue;
    const auto element = reader.parse(line);
    if (!element || !element->is_object()) return false;
    if (FactRow row = row_of(*element, "points", file); !row.numbers.empty() || !row.lists.empty())
      rows.push_back(std::move(row));
  }
  return !rows.empty();
}

void add_number(FactRow& row, const char* name, auto value) {
  if (value) row.numbers[name] = static_cast<double>(*value);
}

Share memory_share(const SweepRun& run) {
  if (!run.memory_bytes || !run.gpu_memory_bytes) return {};
  return static_cast<double>(*run.memory_bytes) / static_cast<double>(*run.gpu_memory_bytes);
}

/// Adds what a series says of kernels to the run that the kernels belong to.
void add_kernels(FactRow& row, const SweepSeries& series, const SweepRun& run) {
  for (const auto& level : run.spreads)
    if (level.id == "issue.active"_metric) row.numbers["kernels.highest_issue"] = level.spread.max;
  for (const auto& point : series.tensor_curve)
    if (series.curve_level == "tensor.issue"_metric) {
      row.lists["kernels.tensor.at"].push_back(point.utilization);
      row.lists["kernels.tensor.below"].push_back(point.time_share);
    }
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

/// The shape of a distribution: the middle of each part of it, and its share.
void add_shape(const Distribution& spread, const std::string& name, FactRow& row) {
  const double step = (spread.max - spread.min) / static_cast<double>(spread.shape.size());
  for (std::size_t at = 0; at < spread.shape.size(); ++at) {
    row.lists[name + ".at"].push_back(spread.min + step * (static_cast<double>(at) + 0.5));
    row.lists[name + ".share"].push_back(spread.shape[at]);
  }
}

/// Layers whose work is products of matrices, in kernels that are fused or not.
bool multiplies_matrices(LayerType type) {
  return type == LayerType::convolution || type == LayerType::matmul ||
         type == LayerType::attention;
}

void add_distributions(FactRow& row, const SweepRun& run) {
  for (const auto& level : run.spreads)
    if (level.id == "issue.active"_metric)
      add_shape(level.spread, "kernels.issue", row);
    else if (level.id == "tensor.issue"_metric)
      row.numbers["kernels.highest_tensor_issue"] = level.spread.max;
  std::map<bool, std::pair<double, double>> issued;  // by matrix layers and others, and their time
  for (const auto& layer : run.layers)
    for (const auto& level : layer.levels) {
      row.numbers[fmt::format("layers.{}.{}", level.id, name_of(layer.type))] = level.spread.mean;
      if (level.id != "tensor.issue"_metric) continue;
      auto& [sum, time] = issued[multiplies_matrices(layer.type)];
      sum += level.spread.mean * static_cast<double>(layer.ns);
      time += static_cast<double>(layer.ns);
    }
  for (const auto& [matrices, of] : issued)
    if (of.second > 0)
      row.numbers[matrices ? "layers.matrix_tensor_issue" : "layers.other_tensor_issue"] =
          of.first / of.second;
}

}  // namespace

Result<std::vector<FactRow>> read_facts(std::string_view content, const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
  JsonReader reader;
  std::vector<FactRow> rows;
  if (const auto root = reader.parse(content)) {
    if (auto row = fact_of_answer(std::string(content), {}, file))
      return std::vector<FactRow>{std::move(*row)};
    add_tables(*root, "", file, rows);
    join_tables(rows);
  } else if (!add_lines(content, file, rows)) {
    return fail("is not JSON", path, -1, "docs/claims.md names the tables of each study");
  }
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
      add_number(row, "normalised", run.normalised);
      add_number(row, "memory_bytes", run.memory_bytes);
      add_number(row, "memory_share", memory_share(run));
      if (filled > 0) row.numbers["memory_filled"] = filled;
      add_number(row, "saturation_batch", series.saturation_batch);
      add_number(row, "spread", run.spread);
      add_number(row, "deviation", run.deviation);
      if (run.repeats > 0) row.numbers["repeats"] = static_cast<double>(run.repeats);
      for (const auto& level : run.levels)
        if (level.value)
          row.numbers[level.id] = {*level.value, level.least.value_or(*level.value),
                                   level.most.value_or(*level.value)};
      if (at == series.kernels_run) add_kernels(row, series, run);
      add_distributions(row, run);
      row.name = series.name;
      if (run.batch) row.name += fmt::format(" b{}", *run.batch);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace gf
