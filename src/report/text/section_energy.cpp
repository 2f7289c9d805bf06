// Where the joules went: components, steps, layer types, layers, kernels, and what to doubt.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/energy.h"
#include "report/labels.h"
#include "report/text/bar.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

constexpr int kBar = 12;

/// Columns of the tables: components that belong together for a reader.
struct Family {
  const char* title;
  bool (*holds)(std::string_view component);
};
constexpr Family kFamilies[] = {
    {"static", [](std::string_view c) { return c == "static" || c == "active"; }},
    {"compute",
     [](std::string_view c) {
       return c == "instructions" || c.starts_with("pipe.") || c.starts_with("tensor");
     }},
    {"on chip",
     [](std::string_view c) { return c == "shared" || c == "l1" || c == "tma" || c == "l2"; }},
    {"DRAM", [](std::string_view c) { return c == "dram"; }},
    {"rest", [](std::string_view c) { return c == "rest"; }},
};

std::string label(const std::string& component) {
  return std::string(label_of(energy_labels(), component).text);
}

std::string signed_share(std::optional<double> share) {
  if (share && *share < 0) return fmt::format("{:.1f} %", *share * 100);
  return format_share(share);
}

/// "518.0 .. 536.6 J": both bounds in the unit of the larger one.
std::string range_text(std::int64_t low, std::int64_t high) {
  const std::string top = format_energy(std::max(std::abs(low), std::abs(high)));
  const std::string unit = top.substr(top.rfind(' ') + 1);
  const double scale = unit == "kJ"   ? 1e12
                       : unit == "J"  ? 1e9
                       : unit == "mJ" ? 1e6
                       : unit == "uJ" ? 1e3
                                      : 1;
  const double most =
      std::max(std::abs(static_cast<double>(low)), std::abs(static_cast<double>(high))) / scale;
  const int decimals = most < 10 ? 3 : most < 100 ? 2 : 1;
  return fmt::format("{:.{}f} .. {:.{}f} {}", static_cast<double>(low) / scale, decimals,
                     static_cast<double>(high) / scale, decimals, unit);
}

std::string source_text(const DeviceEnergy& d) {
  const std::string_view measured = d.source == EnergySource::energy_counter  ? "energy counter"
                                    : d.source == EnergySource::power_instant ? "instant power"
                                                                              : "average power";
  const std::string_view counted = d.counts_source == CountsSource::samples ? "counts from samples"
                                   : d.counts_source == CountsSource::counter_report
                                       ? "counts from the report"
                                       : "nothing counted";
  return fmt::format("{}, {}", measured, counted);
}

std::string components_table(const DeviceEnergy& d, const TextStyle& style) {
  double most = 0;
  for (const auto& p : d.parts) most = std::max(most, std::abs(p.share.value_or(0)));
  TextTable table({{"component", Align::left, true},
                   {""},
                   {"share", Align::right},
                   {"energy", Align::right},
                   {"95 % interval", Align::right, false, 1}});
  for (const auto& p : d.parts) {
    const bool rest = p.component == "rest";
    const double share = most > 0 ? std::abs(p.share.value_or(0)) / most : 0;
    table.add({label(p.component),
               Cell::painted(bar(style, {0, share, 0}, kBar,
                                 rest                      ? Paint::unknown
                                 : p.component == "static" ? Paint::warn
                                                           : Paint::used),
                             kBar),
               signed_share(p.share), format_energy(p.nj), range_text(p.low_nj, p.high_nj)});
  }
  return table.render(style);
}

std::string step_line(const DeviceEnergy& d, const TextStyle& style) {
  if (!d.step) return {};
  const auto& s = *d.step;
  std::string text =
      fmt::format("A step takes {} in {}", format_energy(std::llround(s.joules * 1e9)),
                  format_time(static_cast<Nanos>(s.seconds * 1e9)));
  if (s.joules_per_item)
    text += fmt::format(", {} an item", format_energy(std::llround(*s.joules_per_item * 1e9)));
  text += fmt::format("; energy-delay product {:.4g} J s (mean of {}).", s.edp,
                      plural(s.count, "step"));
  return wrap(text, static_cast<std::size_t>(style.width), 2);
}

/// Rows with their energy, and how much of it each family takes.
std::string rows_table(const std::vector<EnergyRow>& all, const char* title, bool with_type,
                       const TextStyle& style, std::size_t rows) {
  if (all.empty()) return {};
  const bool parts = !all.front().parts.empty();
  std::vector<TableColumn> columns{{title, Align::left, true}};
  if (with_type) columns.push_back({"phase", Align::left, false, 2});
  columns.push_back({"time", Align::right, false, 3});
  columns.push_back({"energy", Align::right});
  columns.push_back({"share", Align::right, false, 1});
  for (const auto& f : kFamilies)
    if (parts) columns.push_back({f.title, Align::right});
  TextTable table(columns);
  for (std::size_t i = 0; i < all.size() && i < rows; ++i) {
    const auto& r = all[i];
    std::vector<Cell> cells{Cell(r.name)};
    if (with_type) cells.emplace_back(std::string(name_of(r.phase)));
    cells.emplace_back(format_time(r.ns));
    cells.emplace_back(format_energy(r.nj));
    cells.emplace_back(signed_share(r.share));
    for (const auto& f : kFamilies) {
      if (!parts) continue;
      std::int64_t sum = 0;
      for (const auto& p : r.parts)
        if (f.holds(p.component)) sum += p.nj;
      cells.emplace_back(r.nj != 0 ? fmt::format("{:.0f}", 100.0 * static_cast<double>(sum) /
                                                               static_cast<double>(r.nj))
                                   : std::string("-"));
    }
    table.add(std::move(cells));
  }
  std::string out = "\n" + table.render(style);
  if (all.size() > rows)
    out += paint(style, Paint::dim,
                 "  and " + plural(static_cast<std::int64_t>(all.size() - rows), "row") +
                     " more (--rows N shows more)\n");
  return out;
}

std::string device_text(const DeviceEnergy& d, const TextStyle& style, std::size_t rows) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string out = section_title(style, "Where the joules go", source_text(d));
  out += wrap(fmt::format("{}: {} in {}, {:.1f} W.",
                          d.name.empty() ? fmt::format("GPU {}", d.device) : d.name,
                          format_energy(d.nj), format_time(d.span_ns), d.mean_watts),
              width, 2);
  out += d.parts.empty() ? paint(style, Paint::dim, "  levels: no data\n")
                         : components_table(d, style);
  out += step_line(d, style);
  out += rows_table(d.layer_types, "layer type (parts in %)", false, style, rows);
  out += rows_table(d.layers, "layer", true, style, rows);
  out += rows_table(d.kernels, "kernel", false, style, rows);
  for (const auto& w : d.warnings)
    out += paint(style, Paint::warn, wrap_with_command("! " + w.text, width, 2));
  return out;
}

}  // namespace

std::string energy_section(const EnergyUse& energy, const TextStyle& style, std::size_t rows) {
  std::string out;
  for (const auto& d : energy.devices) out += device_text(d, style, rows);
  if (out.empty()) return out;
  if (!energy.model.empty()) {
    const std::string gain = energy.gain_error
                                 ? fmt::format("; board sensors may be {:.0f} % off in all of it",
                                               100 * *energy.gain_error)
                                 : std::string();
    out += paint(
        style, Paint::dim,
        wrap(
            fmt::format("Model: {}{}{}.", energy.model.substr(energy.model.find_last_of('/') + 1),
                        energy.model_gpu.empty()
                            ? ""
                            : fmt::format(" ({}{}{})", energy.model_gpu,
                                          energy.model_date.empty() ? "" : ", ", energy.model_date),
                        gain),
            static_cast<std::size_t>(style.width), 2));
  } else if (!energy.why_missing.empty()) {
    out += paint(style, Paint::warn,
                 wrap("! " + energy.why_missing, static_cast<std::size_t>(style.width), 2));
  }
  return out;
}

std::string energy_text(const EnergyReport& r, const TextStyle& style, std::size_t rows) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string files = r.source.path.substr(r.source.path.find_last_of('/') + 1);
  if (r.counters_source && r.counters_source->path != r.source.path)
    files += " + " + r.counters_source->path.substr(r.counters_source->path.find_last_of('/') + 1);
  return paint(style, Paint::dim, shorten_middle(files, width)) + "\n" +
         energy_section(r.energy, style, rows);
}

}  // namespace gf
