// Energy breakdown: components, steps, layer types, layers, kernels, and what to doubt.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "report/labels.h"
#include "report/summary.h"
#include "report/text/format.h"
#include "report/text/plot.h"
#include "report/text/reports.h"
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
    {"static",
     [](std::string_view component) { return component == "static" || component == "active"; }},
    {"compute",
     [](std::string_view component) {
       return component == "instructions" || component.starts_with("pipe.") ||
              component.starts_with("tensor");
     }},
    {"on chip",
     [](std::string_view component) {
       return component == "shared" || component == "l1" || component == "tma" || component == "l2";
     }},
    {"DRAM", [](std::string_view component) { return component == "dram"; }},
    {"rest", [](std::string_view component) { return component == "rest"; }},
};

std::string component_label(const std::string& component) {
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
  double scale = 1;
  if (unit == "kJ") {
    scale = 1e12;
  } else if (unit == "J") {
    scale = 1e9;
  } else if (unit == "mJ") {
    scale = 1e6;
  } else if (unit == "uJ") {
    scale = 1e3;
  }
  const double most =
      std::max(std::abs(static_cast<double>(low)), std::abs(static_cast<double>(high))) / scale;
  int decimals = 1;
  if (most < 10) {
    decimals = 3;
  } else if (most < 100) {
    decimals = 2;
  }
  return fmt::format("{:.{}f} .. {:.{}f} {}", static_cast<double>(low) / scale, decimals,
                     static_cast<double>(high) / scale, decimals, unit);
}

std::string source_text(const DeviceEnergy& energy) {
  std::string_view measured = "average power";
  if (energy.source == EnergySource::energy_counter) {
    measured = "energy counter";
  } else if (energy.source == EnergySource::power_instant) {
    measured = "instant power";
  }
  std::string_view counted = "nothing counted";
  if (energy.counts_source == CountsSource::samples) {
    counted = "counts from samples";
  } else if (energy.counts_source == CountsSource::counter_report) {
    counted = "counts from the report";
  }
  return fmt::format("{}, {}", measured, counted);
}

Paint paint_of(std::string_view component) {
  if (component == "rest") return Paint::unknown;
  return component == "static" ? Paint::warn : Paint::used;
}

std::string components_table(const DeviceEnergy& energy, const TextStyle& style) {
  double most = 0;
  for (const auto& part : energy.parts) most = std::max(most, std::abs(part.share.value_or(0)));
  TextTable table({{"component", Align::left, true},
                   {""},
                   {"share", Align::right},
                   {"energy", Align::right},
                   {"95 % interval", Align::right, false, 1}});
  for (const auto& part : energy.parts) {
    double share = 0;
    if (most > 0) share = std::abs(part.share.value_or(0)) / most;
    table.add({component_label(part.component),
               Cell::painted(bar(style, {0, share, 0}, kBar, paint_of(part.component)), kBar),
               signed_share(part.share), format_energy(part.nj),
               range_text(part.low_nj, part.high_nj)});
  }
  return table.render(style);
}

std::string step_line(const DeviceEnergy& energy, const TextStyle& style) {
  if (!energy.step) return {};
  const auto& step = *energy.step;
  std::string text =
      fmt::format("A step takes {} in {}", format_energy(std::llround(step.joules * 1e9)),
                  format_time(static_cast<Nanos>(step.seconds * 1e9)));
  if (step.joules_per_item)
    text += fmt::format(", {} per item", format_energy(std::llround(*step.joules_per_item * 1e9)));
  text += fmt::format("; energy-delay product {:.4g} J s (mean of {}).", step.edp,
                      plural(step.count, "step"));
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
  for (const auto& family : kFamilies)
    if (parts) columns.push_back({family.title, Align::right});
  TextTable table(columns);
  for (std::size_t i = 0; i < all.size() && i < rows; ++i) {
    const auto& row = all[i];
    std::vector<Cell> cells{Cell(row.name)};
    if (with_type) cells.emplace_back(std::string(name_of(row.phase)));
    cells.emplace_back(format_time(row.ns));
    cells.emplace_back(format_energy(row.nj));
    cells.emplace_back(signed_share(row.share));
    for (const auto& family : kFamilies) {
      if (!parts) continue;
      std::int64_t sum = 0;
      for (const auto& part : row.parts)
        if (family.holds(part.component)) sum += part.nj;
      std::string share = "-";
      if (row.nj != 0)
        share =
            fmt::format("{:.0f}", 100.0 * static_cast<double>(sum) / static_cast<double>(row.nj));
      cells.emplace_back(std::move(share));
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

bool used_the_same(const DeviceEnergy& left, const DeviceEnergy& right) {
  return left.name == right.name && left.kernels.empty() && right.kernels.empty() &&
         nearly_equal(static_cast<double>(left.nj), static_cast<double>(right.nj)) &&
         std::equal(left.parts.begin(), left.parts.end(), right.parts.begin(), right.parts.end(),
                    [](const EnergyPart& one, const EnergyPart& other) {
                      return one.component == other.component &&
                             nearly_equal(one.share.value_or(0), other.share.value_or(0));
                    });
}

std::string device_text(std::span<const DeviceEnergy> run, const TextStyle& style,
                        std::size_t rows) {
  const DeviceEnergy& energy = run.front();
  const auto width = static_cast<std::size_t>(style.width);
  std::string out = section_title(style, "Energy breakdown", source_text(energy));
  std::string name = energy.name.empty() ? fmt::format("GPU {}", energy.device) : energy.name;
  if (run.size() > 1)
    name =
        fmt::format("{}{}, alike within 2 %; each", gpu_numbers(energy.device, run.back().device),
                    energy.name.empty() ? "" : ", " + energy.name);
  out += wrap(fmt::format("{}: {} in {}, {:.1f} W.", name, format_energy(energy.nj),
                          format_time(energy.span_ns), energy.mean_watts),
              width, 2);
  out += energy.parts.empty() ? paint(style, Paint::dim, "  levels: no data\n")
                              : components_table(energy, style);
  if (!energy.parts.empty() && energy.counts_source != CountsSource::none)
    out += paint(style, Paint::dim,
                 wrap("Intervals include the spread between boards and the model's error on unseen "
                      "kernels, not the values of operands: zeros take a quarter to two thirds of "
                      "the energy of random data.",
                      width, 2));
  out += step_line(energy, style);
  out += rows_table(energy.layer_types, "layer type (parts in %)", false, style, rows);
  out += rows_table(energy.layers, "layer", true, style, rows);
  out += rows_table(energy.kernels, "kernel", false, style, rows);
  for (const auto& warning : energy.warnings)
    out += paint(style, Paint::warn, wrap_with_command("! " + warning.text, width, 2));
  return out;
}

}  // namespace

std::string energy_section(const EnergyUse& energy, const TextStyle& style, std::size_t rows) {
  std::string out;
  for (const auto& run : runs_alike(energy.devices, used_the_same))
    out += device_text(run, style, rows);
  if (out.empty()) return out;
  if (!energy.model.empty()) {
    std::string gain = std::string();
    if (energy.gain_error)
      gain =
          fmt::format("; board sensors may be {:.0f} % off in all of it", 100 * *energy.gain_error);
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

namespace {

std::string amount(std::optional<double> value) {
  return value ? fmt::format("{:.4g}", *value) : std::string("-");
}

/// Costs of one of each, where the user gave factors.
std::string costs_text(const std::vector<EnergyCost>& costs, const TextStyle& style) {
  if (costs.empty()) return {};
  TextTable table({{"cost of one", Align::left, true},
                   {"energy", Align::right},
                   {"kWh", Align::right, false, 1},
                   {"price", Align::right},
                   {"g CO2", Align::right}});
  for (const auto& cost : costs)
    table.add({cost.of, format_energy(std::llround(cost.joules * 1e9)), amount(cost.kilowatt_hours),
               amount(cost.price), amount(cost.co2_grams)});
  return "\n" + table.render(style);
}

/// Time and energy at other clocks.
std::string sweep_text(const std::vector<ClockSweep>& sweeps, const TextStyle& style) {
  std::string out;
  for (const auto& sweep : sweeps) {
    TextTable table({{fmt::format("SM clock, GPU {}", sweep.device), Align::left, true},
                     {"time", Align::right},
                     {"energy", Align::right},
                     {"race to idle", Align::right, false, 1}});
    const auto range = [](double low, double high) {
      return range_text(std::llround(low * 1e9), std::llround(high * 1e9));
    };
    for (const auto& clock : sweep.clocks)
      table.add({fmt::format("{:.0f} MHz", clock.mhz),
                 fmt::format("{:.2f} .. {:.2f}", clock.time_low, clock.time_high),
                 range(clock.joules_low, clock.joules_high),
                 range(clock.race_low, clock.race_high)});
    out += "\n" + table.render(style) +
           wrap(fmt::format("Predicted, by the model's voltage: {}.", sweep.verdict),
                static_cast<std::size_t>(style.width), 2);
  }
  return out;
}

}  // namespace

std::string energy_text(const EnergyReport& report, const TextStyle& style, std::size_t rows) {
  return title_line(report.source, report.counters_source, window_label(report.window), style) +
         energy_section(report.energy, style, rows) + costs_text(report.costs, style) +
         sweep_text(report.sweep, style);
}

}  // namespace gf
