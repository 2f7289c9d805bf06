// Layers and kernels, each with the levels inside its kernel time.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/text.h"
#include "model/levels.h"
#include "model/metrics.h"
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
  // A level beside the ladder is the first to go where the terminal is narrow.
  constexpr int kBeside = 4;
  for (const auto id : ids) {
    const auto row = std::ranges::find(kLevelRows, id, &LevelRow::id);
    columns.push_back({std::string(label_of_metric(id).short_text), Align::right, false,
                       row->place == LevelPlace::rung ? 0 : kBeside});
  }
}

void add_level_cells(std::vector<Cell>& cells, const std::vector<LevelSpread>& levels,
                     const std::vector<std::string_view>& ids) {
  for (const auto id : ids) {
    const auto* spread = spread_of(levels, id);
    Paint how = spread ? Paint::plain : Paint::dim;
    cells.emplace_back(percent(spread), how);
  }
}

/// The line that says how many of `all` rows are not among the `shown` ones; empty if none.
std::string rest(const TextStyle& style, std::size_t all, std::size_t shown,
                 std::string_view noun) {
  if (all <= shown) return {};
  return paint(style, Paint::dim,
               "  and " + plural(static_cast<std::int64_t>(all - shown), noun) + " more (--rows " +
                   "N shows more)\n");
}

/// Phases of training in a few letters: names of layers need the room.
std::string short_phase(const std::string& phase) {
  if (phase == "forward") return "fwd";
  if (phase == "backward") return "bwd";
  if (phase == "optimizer") return "opt";
  return phase == "other" ? "-" : phase;
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
  return table.render(style) + rest(style, layers.size(), rows, "row");
}

template <class Row>
std::string_view levels_remark(const std::vector<Row>& rows) {
  if (levels_in(rows).empty()) return "";
  return "levels in % inside the kernels";
}

/// Counts the kernels of each short name.
std::unordered_map<std::string_view, int> alike(const Analysis& analysis) {
  std::unordered_map<std::string_view, int> count;
  for (const auto& kernel : analysis.kernels) ++count[kernel.short_name];
  return count;
}

/// The label of a kernel: kernels that share a short name (templates of many functors) are told
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
  const bool estimates = ids.empty() && std::ranges::any_of(analysis.kernels, [](const auto& row) {
                           return row.waves.has_value();
                         });
  if (estimates) {
    columns.push_back({"~waves", Align::right, false, 3});
    columns.push_back({"~occup. limit", Align::right, false, 4});
  }
  add_level_columns(columns, ids);
  TextTable table(columns);
  const auto named = alike(analysis);
  for (std::size_t i = 0; i < analysis.kernels.size() && i < rows; ++i) {
    const auto& kernel = analysis.kernels[i];
    std::vector<Cell> cells{kernel_label(kernel, named.at(kernel.short_name)),
                            format_count(kernel.count),
                            format_time(static_cast<Nanos>(kernel.duration.median)),
                            format_time(kernel.ns), format_share(kernel.share)};
    if (estimates) {
      cells.push_back(
          known_or("-", kernel.waves, [](double waves) { return fmt::format("{:.3g}", waves); }));
      cells.push_back(kernel.occupancy_limit ? Cell(format_share(kernel.occupancy_limit))
                                             : Cell("-", Paint::dim));
    }
    add_level_cells(cells, kernel.levels, ids);
    table.add(std::move(cells));
  }
  return section_title(style, "By kernel", levels_remark(analysis.kernels)) + table.render(style) +
         rest(style, analysis.kernels.size(), rows, "kernel");
}

// Devices that several processes used: who had what of time, levels and joules.

namespace {

/// Columns: what the device has of its levels, and of what it read.
std::vector<std::string> shown_in(const SharedDevice& device) {
  std::vector<std::string> out;
  const auto has = [&](std::string_view id) {
    return std::ranges::count(device.total, id, &TenantAmount::id) > 0;
  };
  for (const LevelRow& row : levels_shown(kByProcess))
    if (has(row.id))
      out.emplace_back(row.id);
    else if (has(row.stand_in))
      out.emplace_back(row.stand_in);
  if (has("dram.read"_metric)) out.emplace_back("dram.read"_metric);
  return out;
}

std::string number_text(double value, bool ratio) {
  return ratio ? format_share(value) : format_bytes(std::llround(value));
}

/// "1.2-3.4 %": the unit once.
std::string between(const std::string& low, const std::string& high) {
  const auto unit = low.rfind(' ');
  if (unit != std::string::npos && high.size() > low.size() - unit &&
      high.ends_with(low.substr(unit)))
    return low.substr(0, unit) + "-" + high;
  return low + "-" + high;
}

const TenantAmount& find_amount(const std::vector<TenantAmount>& amounts, const std::string& id) {
  return *std::find_if(amounts.begin(), amounts.end(),
                       [&](const TenantAmount& amount) { return amount.id == id; });
}

void add_amounts(std::vector<Cell>& cells, const std::vector<TenantAmount>& amounts,
                 const std::vector<std::string>& ids) {
  for (const auto& id : ids) {
    const auto& amount = find_amount(amounts, id);
    cells.emplace_back(number_text(amount.value, amount.unit == "ratio"));
  }
}

/// The intervals of a process, below its values.
void add_bounds(TextTable& table, const SharedDevice& device, const Tenant& tenant,
                const std::vector<std::string>& ids) {
  std::vector<Cell> cells{
      Cell("  between"), Cell(""),
      Cell(between(format_time(tenant.alone_ns), format_time(tenant.active_ns)), Paint::dim)};
  for (const auto& id : ids) {
    const auto& amount = find_amount(tenant.amounts, id);
    const bool ratio = amount.unit == "ratio";
    cells.emplace_back(between(number_text(amount.low, ratio), number_text(amount.high, ratio)),
                       Paint::dim);
  }
  if (device.nj)
    cells.emplace_back(between(format_energy(*tenant.low_nj), format_energy(*tenant.high_nj)),
                       Paint::dim);
  cells.front().how = Paint::dim;
  table.add(std::move(cells));
}

std::string title_of(const std::string& id) {
  return id == "dram.read"_metric ? "read" : std::string(label_of_metric(id).short_text);
}

std::string tenant_label(const Tenant& tenant) {
  if (tenant.name.empty()) return std::to_string(tenant.pid);
  return fmt::format("{} {}", tenant.pid, tenant.name);
}

std::string table_of(const SharedDevice& device, const TextStyle& style) {
  const auto ids = shown_in(device);
  std::vector<TableColumn> columns{
      {"process", Align::left, true}, {"kernels", Align::right, false, 2}, {"time", Align::right}};
  for (const auto& id : ids) columns.push_back({title_of(id), Align::right, false, 1});
  if (device.nj) columns.push_back({"energy", Align::right});
  TextTable table(columns);
  for (const auto& tenant : device.tenants) {
    std::vector<Cell> cells{tenant_label(tenant), format_count(tenant.kernels),
                            format_time(tenant.share_ns)};
    add_amounts(cells, tenant.amounts, ids);
    if (device.nj) cells.emplace_back(format_energy(*tenant.nj));
    table.add(std::move(cells));
    add_bounds(table, device, tenant, ids);
  }
  std::vector<Cell> rest{Cell("none of them"), Cell(""), Cell(format_time(device.rest_ns))};
  add_amounts(rest, device.rest, ids);
  if (device.nj) rest.emplace_back(format_energy(*device.rest_nj));
  table.add(std::move(rest));
  std::vector<Cell> all{Cell("the GPU"), Cell(""), Cell(format_time(device.span_ns))};
  add_amounts(all, device.total, ids);
  if (device.nj) all.emplace_back(format_energy(*device.nj));
  table.add(std::move(all));
  return table.render(style);
}

std::string_view how_shared(Sharing sharing) {
  if (sharing == Sharing::mps) return ", under MPS";
  if (sharing == Sharing::time_sliced) return ", in turns";
  return "";
}

}  // namespace

std::string tenants_section(const Analysis& analysis, const TextStyle& style) {
  std::string out;
  const auto width = static_cast<std::size_t>(style.width);
  for (const auto& device : analysis.tenants) {
    const auto count = static_cast<std::int64_t>(device.tenants.size());
    if (device.span_ns == 0) {
      std::string pids;
      for (const auto& tenant : device.tenants)
        pids += (pids.empty() ? "" : ", ") + tenant_label(tenant);
      out += section_title(style, fmt::format("Processes on GPU {}", device.id),
                           fmt::format("{} processes", count));
      out += wrap(pids + ": " + device.cannot_tell + ".", width, 2);
      continue;
    }
    out += section_title(style, fmt::format("Processes on GPU {}", device.id),
                         fmt::format("{} processes{}, {}", count, how_shared(device.sharing),
                                     format_time(device.span_ns)));
    out += table_of(device, style);
    if (device.overlap_ns > 0)
      out += wrap(fmt::format("In {} several had work there: that time is split evenly; the bounds "
                              "show how much it could be.",
                              format_time(device.overlap_ns)),
                  width, 2);
    if (!device.cannot_tell.empty()) out += wrap(device.cannot_tell, width, 2);
  }
  return out;
}

}  // namespace gf
