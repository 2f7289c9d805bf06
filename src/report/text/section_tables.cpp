// Layers and kernels, each with the levels inside its kernel time.
#include <algorithm>
#include <unordered_map>

#include "core/fallback.h"
#include "model/levels.h"
#include "report/labels.h"
#include "report/summary.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

const LevelSpread* spread_of(const std::vector<LevelSpread>& levels, std::string_view id) {
  for (const auto& level : levels)
    if (level.id == id && level.value) return &level;
  return nullptr;
}

/// Ids of the levels that at least one row has data for; without counters the columns are left out.
template <class Row>
std::vector<std::string_view> levels_in(const std::vector<Row>& rows) {
  std::vector<std::string_view> ids;
  for (const LevelRow& level : levels_shown(kByKernel))
    if (std::ranges::any_of(rows, [&](const auto& row) { return spread_of(row.levels, level.id); }))
      ids.push_back(level.id);
  return ids;
}

std::string percent(const LevelSpread* spread) {
  if (!spread) return "-";
  const std::string text = format_share(spread->value);
  return text.substr(0, text.size() - 2);  // the unit stands in the title
}

void add_level_columns(std::vector<TableColumn>& columns,
                       const std::vector<std::string_view>& ids) {
  for (const auto id : ids)
    columns.push_back({std::string(label_of_metric(id).short_text), Align::right});
}

void add_level_cells(std::vector<Cell>& cells, const std::vector<LevelSpread>& levels,
                     const std::vector<std::string_view>& ids) {
  for (const auto id : ids) {
    const auto* spread = spread_of(levels, id);
    Paint how = spread ? Paint::plain : Paint::dim;
    cells.emplace_back(percent(spread), how);
  }
}

std::string rest(const TextStyle& style, std::size_t hidden, std::string_view noun) {
  if (hidden == 0) return {};
  return paint(style, Paint::dim,
               "  and " + plural(static_cast<std::int64_t>(hidden), noun) + " more (--rows " +
                   "N shows more)\n");
}

/// Phases of training in a few letters: names of layers need the room.
std::string short_phase(const std::string& phase) {
  if (phase == "forward") return "fwd";
  if (phase == "backward") return "bwd";
  if (phase == "optimizer") return "opt";
  if (phase == "other") return "-";
  return phase;
}

std::string layer_table(const std::vector<LayerRow>& layers, const TextStyle& style,
                        std::size_t rows, bool with_name) {
  const auto ids = levels_in(layers);
  std::vector<TableColumn> columns;
  if (with_name) {
    columns = {{"layer", Align::left, true},
               {"type", Align::left},
               {"phase"},  // tells rows of one layer apart
               {"kernels", Align::right, false, 3},
               {"time", Align::right},
               {"share", Align::right, false, 2}};
  } else {
    columns = {{"layer type", Align::left, true},
               {"kernels", Align::right},
               {"time", Align::right},
               {"share", Align::right}};
  }
  add_level_columns(columns, ids);
  TextTable table(columns);
  for (std::size_t i = 0; i < layers.size() && i < rows; ++i) {
    const auto& layer = layers[i];
    std::vector<Cell> cells;
    if (with_name) cells.emplace_back(std::string(text_or(layer.name, "(unknown)")));
    cells.emplace_back(std::string(name_of(layer.type)));
    if (with_name) cells.emplace_back(short_phase(std::string(name_of(layer.phase))));
    cells.emplace_back(format_count(layer.kernels));
    cells.emplace_back(format_time(layer.ns));
    cells.emplace_back(format_share(layer.share));
    add_level_cells(cells, layer.levels, ids);
    table.add(std::move(cells));
  }
  return table.render(style) + rest(style, excess(layers.size(), rows), "row");
}

template <class Row>
std::string_view levels_remark(const std::vector<Row>& rows) {
  if (levels_in(rows).empty()) return "";
  return "levels in % inside the kernels";
}

/// How many kernels have each short name.
std::unordered_map<std::string_view, int> alike(const Analysis& analysis) {
  std::unordered_map<std::string_view, int> count;
  for (const auto& kernel : analysis.kernels) ++count[kernel.short_name];
  return count;
}

/// What a kernel goes by: kernels that share a short name (templates of many functors) are told
/// apart by their operator.
std::string kernel_label(const KernelRow& kernel_row, int with_its_name) {
  if (kernel_row.short_name.empty()) return kernel_row.name;
  if (with_its_name > 1 && !kernel_row.operator_name.empty())
    return kernel_row.short_name + " " + kernel_row.operator_name;
  return kernel_row.short_name;
}

}  // namespace

std::string layers_section(const Analysis& analysis, const TextStyle& style, std::size_t rows) {
  std::string out;
  if (!analysis.layer_types.empty())
    out += section_title(style, "By layer type", levels_remark(analysis.layer_types)) +
           layer_table(analysis.layer_types, style, rows, false);
  if (!analysis.layers.empty())
    out += section_title(style, "By layer", levels_remark(analysis.layers)) +
           layer_table(analysis.layers, style, rows, true);
  return out;
}

std::string kernels_section(const Analysis& analysis, const TextStyle& style, std::size_t rows) {
  if (analysis.kernels.empty()) return {};
  const auto ids = levels_in(analysis.kernels);
  std::vector<TableColumn> columns{{"kernel", Align::left, true},
                                   {"count", Align::right},
                                   {"median", Align::right, false, 2},
                                   {"time", Align::right},
                                   {"share", Align::right, false, 1}};
  add_level_columns(columns, ids);
  TextTable table(columns);
  const auto named = alike(analysis);
  for (std::size_t i = 0; i < analysis.kernels.size() && i < rows; ++i) {
    const auto& kernel = analysis.kernels[i];
    std::vector<Cell> cells{kernel_label(kernel, named.at(kernel.short_name)),
                            format_count(kernel.count),
                            format_time(static_cast<Nanos>(kernel.duration.median)),
                            format_time(kernel.ns), format_share(kernel.share)};
    add_level_cells(cells, kernel.levels, ids);
    table.add(std::move(cells));
  }
  return section_title(style, "By kernel", levels_remark(analysis.kernels)) + table.render(style) +
         rest(style, excess(analysis.kernels.size(), rows), "kernel");
}

}  // namespace gf
