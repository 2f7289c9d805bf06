#include "report/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/levels.h"
#include "model/metrics.h"
#include "report/labels.h"
#include "report/text/format.h"
#include "report/text/plot.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

const SweepRun& run_of(const Sweep& sweep, std::int64_t at) {
  return sweep.runs[static_cast<std::size_t>(at)];
}

std::string number_or_dash(Share share) {
  if (!share) return "-";
  return fmt::format("{:.1f}", *share * 100);
}

template <class T>
std::string told(const std::optional<T>& value, auto&& tell, const char* otherwise) {
  return value ? tell(*value) : otherwise;
}

std::string rate(std::optional<double> per_second) {
  if (!per_second) return "no data";
  if (*per_second < 100) return fmt::format("{:.2f}", *per_second);
  return format_count(std::llround(*per_second));
}

bool any_of_runs(const Sweep& sweep, const SweepSeries& series, auto&& has) {
  return std::any_of(series.runs.begin(), series.runs.end(),
                     [&](std::int64_t at) { return has(run_of(sweep, at)); });
}

/// Three digits, without the unit.
std::string joules_text(double joules) { return fmt::format("{:.3g}", joules); }

/// What tells a run from the others of its model: the axes of its series, and the batch.
std::string setting_of(const Sweep& sweep, std::int64_t at) {
  for (const auto& series : sweep.series)
    if (std::ranges::find(series.runs, at) != series.runs.end()) {
      const auto& batch = run_of(sweep, at).batch;
      return series.name + (batch ? " batch " + format_count(*batch) : "");
    }
  return {};
}

/// Least joules an item, and which others cannot be told from it.
std::string cheapest_text(const Sweep& sweep, const TextStyle& style) {
  if (sweep.cheapest.empty()) return {};
  std::string text = section_title(style, "Least energy for an item");
  for (const auto& row : sweep.cheapest) {
    const SweepRun& least = run_of(sweep, row.run);
    const SweepRun& next = run_of(sweep, row.next);
    std::string line =
        fmt::format("{}: {} J", setting_of(sweep, row.run), joules_text(*least.joules_per_item));
    if (least.joules_low)
      line += fmt::format(" ({} to {})", joules_text(*least.joules_low),
                          joules_text(*least.joules_high));
    const double more = *next.joules_per_item / *least.joules_per_item - 1;
    if (!row.next_low) {
      line += fmt::format(
          "; the next, {}, takes {:.1f} % more. How sure that is, repeats or captures tell.",
          setting_of(sweep, row.next), 100 * more);
    } else if (row.alike.empty()) {
      line += fmt::format("; the next, {}, takes {:.1f} % more ({:.1f} to {:.1f}).",
                          setting_of(sweep, row.next), 100 * more, 100 * (*row.next_low - 1),
                          100 * (*row.next_high - 1));
    } else {
      std::string others;
      for (const auto at : row.alike)
        others += (others.empty() ? "" : ", ") + setting_of(sweep, at) +
                  fmt::format(" ({} J)", joules_text(*run_of(sweep, at).joules_per_item));
      line += "; cannot be told from " + others + ": record longer, or repeat.";
    }
    text += wrap(line, static_cast<std::size_t>(style.width), 2);
  }
  return text;
}

/// Figures 1 and 3 of DATE 2024: each batch with its throughput and how deep the GPU was used.
std::string series_table(const Sweep& sweep, std::size_t at, const TextStyle& style) {
  const SweepSeries& series = sweep.series[at];
  const bool memory =
      any_of_runs(sweep, series, [](const SweepRun& run) { return run.memory_bytes; });
  const bool work = any_of_runs(sweep, series, [](const SweepRun& run) { return run.flops; });
  const bool energy =
      any_of_runs(sweep, series, [](const SweepRun& run) { return run.joules_per_item; });
  const bool mfu = any_of_runs(sweep, series, [](const SweepRun& run) { return run.mfu; });
  std::vector<TableColumn> columns{{"batch", Align::right},
                                   {"step", Align::right, false, 3},
                                   {"items/s", Align::right},
                                   {"of best", Align::left}};
  for (const LevelRow& level : levels_shown(kByRun))
    columns.push_back({std::string(label_of_metric(level.id).short_text), Align::right});
  if (energy) columns.push_back({"J/item", Align::right});
  if (mfu) columns.push_back({"MFU", Align::right});
  if (work) columns.push_back({"TFLOP/s", Align::right, false, 2});
  if (memory) columns.push_back({"memory", Align::right, false, 1});
  TextTable table(std::move(columns));
  constexpr int kBar = 8;
  for (const auto run_index : series.runs) {
    const SweepRun& run = run_of(sweep, run_index);
    const bool saturated = run.batch && run.batch == series.saturation_batch;
    Paint how = saturated ? Paint::strong : Paint::plain;
    std::vector<Cell> cells{{told(run.batch, format_count, "?") + (saturated ? " *" : ""), how},
                            told(run.step_ns, format_time, "no data"),
                            {rate(run.throughput), how}};
    cells.push_back(Cell::painted(bar(style, {0, run.normalised.value_or(0), 0}, kBar), kBar));
    for (const LevelRow& level : levels_shown(kByRun)) {
      Share value = level_of(run, level.id);
      if (!value) value = level_of(run, level.stand_in);
      cells.push_back(number_or_dash(value));
    }
    if (energy)
      cells.push_back(
          told(run.joules_per_item, [](double value) { return joules_text(value); }, "-"));
    if (mfu) cells.push_back(number_or_dash(run.mfu));
    if (work)
      cells.push_back(
          told(run.flops, [](double value) { return fmt::format("{:.1f}", value * 1e-12); }, "-"));
    if (memory) cells.push_back(told(run.memory_bytes, format_bytes, "-"));
    table.add(std::move(cells));
  }
  return fmt::format("  {}  {}\n", series_letter(at), paint(style, Paint::strong, series.name)) +
         table.render(style, 4);
}

std::string over_the_batch(const Sweep& sweep, const TextStyle& style) {
  std::string text = section_title(style, "Throughput and levels over the batch, % of the time");
  bool saturated = false;
  for (std::size_t at = 0; at < sweep.series.size(); ++at) {
    text += series_table(sweep, at, style);
    saturated = saturated || sweep.series[at].saturation_batch.has_value();
  }
  if (saturated)
    text += paint(style, Paint::dim,
                  "  * saturation: the smallest batch with 95 % of the highest throughput\n");
  return text;
}

/// Figures 4 and 5: what more throughput costs in memory, one frame a model.
std::string against_memory(const Sweep& sweep, const TextStyle& style) {
  const bool capitals = sweep.series.size() <= 26;  // with more series they are other series
  std::vector<std::string> models;
  for (const auto& series : sweep.series)
    if (std::find(models.begin(), models.end(), series.model) == models.end())
      models.push_back(series.model);
  std::string text;
  for (const auto& model : models) {
    std::vector<PlotPoint> points;
    PlotAxis memory{"memory", std::numeric_limits<double>::max(), 0, {}, {}, true};
    for (std::size_t at = 0; at < sweep.series.size(); ++at) {
      if (sweep.series[at].model != model) continue;
      for (const auto run_index : sweep.series[at].runs) {
        const SweepRun& run = run_of(sweep, run_index);
        if (!run.memory_bytes || !run.normalised || *run.memory_bytes <= 0) continue;
        const auto bytes = static_cast<double>(*run.memory_bytes);
        const bool saturated = run.batch == sweep.series[at].saturation_batch;
        char letter = series_letter(at);
        if (saturated && capitals) letter = static_cast<char>(letter - 'a' + 'A');
        points.push_back({bytes, *run.normalised, letter});
        memory.low = std::min(memory.low, bytes);
        memory.high = std::max(memory.high, bytes);
      }
    }
    if (points.size() < 2 || memory.low >= memory.high) continue;
    memory.low_text = format_bytes(std::llround(memory.low));
    memory.high_text = format_bytes(std::llround(memory.high));
    const PlotAxis best{model + ": throughput, of the best", 0, 1, "0", "100 %", false};
    text += plot(style, points, memory, best, 12);
  }
  if (text.empty()) return text;
  return section_title(style, capitals ? "Throughput against memory; a capital marks the saturation"
                                       : "Throughput against memory") +
         text;
}

/// Figure 8: the curves of all series in one frame.
std::string tensor_curves(const Sweep& sweep, const TextStyle& style) {
  std::vector<PlotPoint> points;
  double highest = 0;
  std::string level;
  constexpr int kColumns = 120;
  for (std::size_t at = 0; at < sweep.series.size(); ++at) {
    const auto& curve = sweep.series[at].tensor_curve;
    if (curve.empty()) continue;
    level = sweep.series[at].curve_level;
    std::size_t next = 0;
    for (int column = 0; column <= kColumns; ++column) {
      const double share = static_cast<double>(column) / kColumns;
      while (next + 1 < curve.size() && curve[next].time_share < share) ++next;
      points.push_back({share, curve[next].utilization, series_letter(at)});
      highest = std::max(highest, curve[next].utilization);
    }
  }
  if (points.empty()) return {};
  double step = 0.1;
  if (highest < step) step = 0.01;
  highest = std::max(step, std::ceil(highest / step) * step);
  const PlotAxis time{
      "share of kernel time, kernels in the order of their level", 0, 1, "0", "100 %", false};
  const PlotAxis use{level, 0, highest, "0", fmt::format("{:.0f} %", highest * 100), false};
  return section_title(style, "Tensor cores over the kernels") + plot(style, points, time, use, 12);
}

/// Figures 6 and 7: how each level is spread over all kernels.
std::string distributions(const Sweep& sweep, const TextStyle& style) {
  TextTable table({{"", Align::left},
                   {"level", Align::left, true},
                   {"p5", Align::right, false, 2},
                   {"median", Align::right},
                   {"p95", Align::right},
                   {"mean", Align::right},
                   {"from least to most", Align::left, false, 1}});
  for (std::size_t at = 0; at < sweep.series.size(); ++at)
    for (const auto of : sweep.series[at].runs) {
      const SweepRun& run = sweep.runs[static_cast<std::size_t>(of)];
      std::string which(1, series_letter(at));
      if (of != sweep.series[at].kernels_run && run.batch) which += " " + format_count(*run.batch);
      for (const auto& level : run.spreads) {
        const Distribution& spread = level.spread;
        table.add({which, std::string(label_of_metric(level.id).text), number_or_dash(spread.p5),
                   number_or_dash(spread.median), number_or_dash(spread.p95),
                   number_or_dash(spread.mean),
                   Cell::painted(sparkline(style, spread.shape), spread.shape.size())});
      }
    }
  if (table.empty()) return {};
  return section_title(style, "Levels over all kernels, % of their time") + table.render(style);
}

}  // namespace

char series_letter(std::size_t series) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return series < kLetters.size() ? kLetters[series] : '?';
}

std::string sweep_text(const Sweep& sweep, const TextStyle& style) {
  std::string axes;
  for (const auto& axis : sweep.axes) axes += (axes.empty() ? "" : ", ") + axis;
  if (axes.empty()) axes = "no axis";
  std::string text = wrap(fmt::format("{} in {} series over {}.", plural(sweep.runs.size(), "run"),
                                      sweep.series.size(), axes),
                          static_cast<std::size_t>(style.width));
  return text + over_the_batch(sweep, style) + cheapest_text(sweep, style) +
         against_memory(sweep, style) + tensor_curves(sweep, style) + distributions(sweep, style);
}

}  // namespace gf
