// Energy breakdown: components, steps, layer types, layers, kernels, and what to doubt.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "analyze/ranks/job_energy.h"
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

std::string components_table(const std::vector<EnergyPart>& parts, const TextStyle& style) {
  double most = 0;
  for (const auto& part : parts) most = std::max(most, std::abs(part.share.value_or(0)));
  TextTable table({{"component", Align::left, true},
                   {""},
                   {"share", Align::right},
                   {"energy", Align::right},
                   {"95 % interval", Align::right, false, 1}});
  for (const auto& part : parts) {
    double share = 0;
    if (most > 0) share = std::abs(part.share.value_or(0)) / most;
    table.add({component_label(part.component),
               Cell::painted(bar(style, {0, share, 0}, kBar, paint_of(part.component)), kBar),
               signed_share(part.share), format_energy(part.nj),
               range_text(part.low_nj, part.high_nj)});
  }
  return table.render(style);
}

std::string step_line(const std::optional<EnergyStepMean>& mean, const TextStyle& style) {
  if (!mean) return {};
  const auto& step = *mean;
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
                              : components_table(energy.parts, style);
  if (!energy.parts.empty() && energy.counts_source != CountsSource::none)
    out += paint(style, Paint::dim,
                 wrap("Intervals include the spread between boards and the model's error on unseen "
                      "kernels, not the values of operands: zeros take a quarter to two thirds of "
                      "the energy of random data.",
                      width, 2));
  out += step_line(energy.step, style);
  out += rows_table(energy.layer_types, "layer type (parts in %)", false, style, rows);
  out += rows_table(energy.layers, "layer", true, style, rows);
  out += rows_table(energy.kernels, "kernel", false, style, rows);
  for (const auto& warning : energy.warnings)
    out += paint(style, Paint::warn, wrap_with_command("! " + warning.text, width, 2));
  return out;
}

/// `By` has what describes a model.
template <class By>
std::string model_line(const By& energy, const TextStyle& style) {
  std::string gain = std::string();
  if (energy.gain_error)
    gain =
        fmt::format("; board sensors may be {:.0f} % off in all of it", 100 * *energy.gain_error);
  return paint(
      style, Paint::dim,
      wrap(fmt::format("Model: {}{}{}.", energy.model.substr(energy.model.find_last_of('/') + 1),
                       energy.model_gpu.empty()
                           ? ""
                           : fmt::format(" ({}{}{})", energy.model_gpu,
                                         energy.model_date.empty() ? "" : ", ", energy.model_date),
                       gain),
           static_cast<std::size_t>(style.width), 2));
}

}  // namespace

std::string energy_section(const EnergyUse& energy, const TextStyle& style, std::size_t rows) {
  std::string out;
  for (const auto& run : runs_alike(energy.devices, used_the_same))
    out += device_text(run, style, rows);
  if (out.empty()) return out;
  if (!energy.model.empty()) {
    out += model_line(energy, style);
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

/// "1480 MHz, 170.8 mJ an item at a price of 1.2e-08": the least of a clock.
std::string clock_text(const ClockSweep& sweep, double mhz, std::optional<double> joules,
                       std::optional<double> price) {
  std::string text = fmt::format("{:.0f} MHz", mhz);
  if (joules)
    text += fmt::format(", {}{}", format_energy(std::llround(*joules * 1e9)),
                        sweep.clocks.front().item_low ? " an item" : "");
  if (price) text += fmt::format(" at a price of {:.3g}", *price);
  return text;
}

/// The cheapest clock at either end of what sets the pace; joules and their price have the same.
std::string cheapest_clock(const ClockSweep& sweep) {
  const auto at = [&](double mhz) {
    return std::ranges::find(sweep.clocks, mhz, &EnergyAtClock::mhz);
  };
  const auto memory = at(sweep.cheapest_by_memory_mhz), clock = at(sweep.cheapest_by_clock_mhz);
  if (memory == sweep.clocks.end() || clock == sweep.clocks.end()) return {};
  return fmt::format(
      " Cheapest: {} if memory sets the pace, {} if the SM clock does.",
      clock_text(sweep, memory->mhz, memory->item_low ? *memory->item_low : memory->joules_low,
                 memory->price_low),
      clock_text(sweep, clock->mhz, clock->item_high ? *clock->item_high : clock->joules_high,
                 clock->price_high));
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
           wrap(fmt::format("Predicted, by the model's voltage: {}.{}", sweep.verdict,
                            cheapest_clock(sweep)),
                static_cast<std::size_t>(style.width), 2);
  }
  return out;
}

/// "123 J (10.0 %, 110 .. 140 J)" of a whole.
std::string waiting_text(std::int64_t nj, std::optional<std::int64_t> low,
                         std::optional<std::int64_t> high, std::int64_t whole) {
  std::string text = format_energy(nj);
  if (whole <= 0) return text;
  text += fmt::format(" ({}", format_share(static_cast<double>(nj) / static_cast<double>(whole)));
  if (low && high) text += fmt::format(", {}", range_text(*low, *high));
  return text + ")";
}

std::string job_summary(const JobEnergy& job, const TextStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  const auto ranks = static_cast<std::int64_t>(job.ranks.size());
  std::string of = plural(job.measured_ranks, "rank");
  if (job.measured_ranks < ranks) of += fmt::format(" of {}, the others are not known", ranks);
  std::string text = wrap(fmt::format("{} in {}, {:.1f} W: {}.", format_energy(job.nj),
                                      format_time(job.span_ns), job.mean_watts, of),
                          width, 2);
  std::string waiting =
      "Energy of waiting for other ranks: not known, since no rank shares a "
      "collective with another.";
  if (job.wait_nj)
    waiting = fmt::format("Waiting for other ranks: {} in {} of device time.",
                          waiting_text(*job.wait_nj, job.wait_low_nj, job.wait_high_nj, job.nj),
                          format_time(job.wait_ns));
  text += wrap(waiting, width, 2);
  text += step_line(job.step, style);
  if (job.joules_per_token)
    text += wrap(fmt::format("A token takes {} ({} that every rank counts).",
                             format_energy(std::llround(*job.joules_per_token * 1e9)),
                             plural(*job.tokens, "token")),
                 width, 2);
  return text;
}

std::string ranks_energy_table(const JobEnergy& job, const TextStyle& style) {
  TextTable table({{"rank", Align::right},
                   {"energy", Align::right},
                   {"share", Align::right, false, 1},
                   {"power", Align::right, false, 2},
                   {"waits", Align::right, false, 3},
                   {"waiting", Align::right},
                   {"measured by", Align::left, true, 4}});
  const auto known = [](std::optional<std::int64_t> nj) {
    return nj ? Cell(format_energy(*nj)) : Cell("not known", Paint::dim);
  };
  std::string missing;
  for (const auto& rank : job.ranks) {
    std::string watts = "-";
    if (rank.mean_watts) watts = fmt::format("{:.1f} W", *rank.mean_watts);
    table.add({fmt::format("{}", rank.rank), known(rank.nj),
               rank.share ? format_share(rank.share) : "-", watts, format_time(rank.wait_ns),
               known(rank.wait_nj), std::string(name_of(rank.measured_by))});
    if (!rank.placed)
      missing +=
          paint(style, Paint::warn,
                wrap(fmt::format("! rank {} shares no collective with the others: its window "
                                 "is its own",
                                 rank.rank),
                     static_cast<std::size_t>(style.width), 2));
    if (!rank.why_missing.empty())
      missing += paint(style, Paint::warn,
                       wrap_with_command(fmt::format("! rank {} is not in the sum: {}", rank.rank,
                                                     rank.why_missing),
                                         static_cast<std::size_t>(style.width), 2));
  }
  return "\n" + table.render(style) + missing;
}

std::string job_steps_table(const JobEnergy& job, const TextStyle& style, std::size_t rows) {
  if (job.steps.empty()) return {};
  TextTable table({{"step", Align::right},
                   {"energy", Align::right},
                   {"waiting", Align::right},
                   {"ranks", Align::right, false, 2},
                   {"slowest rank", Align::right, false, 1}});
  for (std::size_t i = 0; i < job.steps.size() && i < rows; ++i) {
    const auto& step = job.steps[i];
    table.add({step.step ? fmt::format("{}", *step.step) : "outside", format_energy(step.nj),
               step.wait_nj ? format_energy(*step.wait_nj) : "not known",
               fmt::format("{}", step.ranks.size()), format_time(step.longest_ns)});
  }
  std::string out = "\n" + table.render(style);
  if (job.steps.size() > rows)
    out += paint(style, Paint::dim,
                 "  and " + plural(static_cast<std::int64_t>(job.steps.size() - rows), "row") +
                     " more (--rows N shows more)\n");
  return out;
}

}  // namespace

std::string job_energy_text(const JobEnergyReport& report, const TextStyle& style,
                            std::size_t rows) {
  const JobEnergy& job = report.job;
  std::string of = plural(static_cast<std::int64_t>(job.ranks.size()), "rank");
  if (job.world_size > static_cast<std::int64_t>(job.ranks.size()))
    of += fmt::format(" of {}", job.world_size);
  const bool apart =
      std::ranges::find(job.warnings, kNoSharedTime, &EnergyWarning::code) != job.warnings.end();
  of += apart ? ", own windows" : ", common window";
  std::string out = section_title(style, "Energy of the job", of);
  out += job_summary(job, style);
  if (!job.parts.empty()) out += components_table(job.parts, style);
  out += ranks_energy_table(job, style) + job_steps_table(job, style, rows) +
         costs_text(report.costs, style);
  for (const auto& warning : job.warnings)
    out += paint(style, Paint::warn,
                 wrap_with_command("! " + warning.text, static_cast<std::size_t>(style.width), 2));
  return job.model.empty() ? out : out + model_line(job, style);
}

std::string energy_text(const EnergyReport& report, const TextStyle& style, std::size_t rows) {
  return title_line(report.source, report.counters_source, window_label(report.window), style) +
         energy_section(report.energy, style, rows) + costs_text(report.costs, style) +
         sweep_text(report.sweep, style);
}

}  // namespace gf
