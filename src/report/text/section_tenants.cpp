// Devices that several processes used: who had what of time, levels and joules.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/levels.h"
#include "model/metric_id.h"
#include "report/labels.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

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
  if (ratio) return format_share(value);
  return format_bytes(std::llround(value));
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
  if (id == "dram.read"_metric) return "read";
  return std::string(label_of_metric(id).short_text);
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
        pids += (!pids.empty() ? ", " : "") + tenant_label(tenant);
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
