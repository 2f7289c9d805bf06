#include "report/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/text.h"
#include "report/labels.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

Cell time_cell(Nanos ns) { return ns == 0 ? Cell("-", Paint::dim) : Cell(format_time(ns)); }

Paint paint_of(Nanos change) {
  if (change < 0) return Paint::good;
  return change > 0 ? Paint::bad : Paint::dim;
}

/// The runs' times, and what the others have more than the first.
std::string times(const std::vector<ComparedTime>& rows, const Comparison& comparison,
                  const TextStyle& style, std::size_t shown, const char* title, bool total) {
  std::vector<TableColumn> columns{{title, Align::left, true}};
  for (std::size_t run = 0; run < comparison.runs.size(); ++run)
    columns.push_back({run_letter(run), Align::right});
  for (std::size_t run = 1; run < comparison.runs.size(); ++run)
    columns.push_back({run_letter(run) + " - A", Align::right});
  TextTable table(std::move(columns));
  for (std::size_t i = 0; i < std::min(shown, rows.size()); ++i) {
    std::vector<Cell> cells{row_name(rows[i])};
    for (Nanos ns : rows[i].ns) cells.push_back(time_cell(ns));
    for (std::size_t run = 1; run < comparison.runs.size(); ++run) {
      const Nanos change = rows[i].change_ns[run];
      cells.push_back({signed_time(change), paint_of(change)});
    }
    table.add(std::move(cells));
  }
  if (total) {
    std::vector<Cell> cells{{"total", Paint::strong}};
    for (const auto& run : comparison.runs)
      cells.push_back({format_time(run.time_ns), Paint::strong});
    for (std::size_t run = 1; run < comparison.runs.size(); ++run)
      cells.push_back(
          {signed_time(comparison.runs[run].time_ns - comparison.runs[0].time_ns), Paint::strong});
    table.add(std::move(cells));
  }
  std::string text = table.render(style);
  if (rows.size() > shown)
    text += paint(style, Paint::dim,
                  "  and " + plural(static_cast<std::int64_t>(rows.size() - shown), "row") +
                      " more (--rows N shows more)\n");
  return text;
}

/// A table with one column a run, and no changes.
TextTable by_run(const Comparison& comparison, const char* title) {
  std::vector<TableColumn> columns{{title, Align::left, true}};
  for (std::size_t run = 0; run < comparison.runs.size(); ++run)
    columns.push_back({run_letter(run), Align::right});
  return TextTable(std::move(columns));
}

std::string runs_table(const Comparison& comparison, const TextStyle& style) {
  const auto any = [&](auto known) {
    return std::any_of(comparison.runs.begin(), comparison.runs.end(), known);
  };
  const bool items = any([](const ComparedRun& run) { return run.item_ns.has_value(); });
  const bool joules = any([](const ComparedRun& run) { return run.joules.has_value(); });
  std::vector<TableColumn> columns{{"", Align::left},
                                   {"run", Align::left, true},
                                   {"device", Align::left, true},
                                   {"steps", Align::right},
                                   {comparison.per, Align::right}};
  if (items) columns.push_back({"item", Align::right, false, 1});
  if (joules) columns.push_back({"energy", Align::right, false, 2});
  if (items && joules) columns.push_back({"per item", Align::right, false, 3});
  columns.push_back({"speed", Align::right});
  TextTable runs(std::move(columns));
  const auto energy = [](std::optional<double> value) {
    return !value ? Cell("no data", Paint::dim) : Cell(format_energy(std::llround(*value * 1e9)));
  };
  for (std::size_t index = 0; index < comparison.runs.size(); ++index) {
    const auto& run = comparison.runs[index];
    std::vector<Cell> cells{{run_letter(index), Paint::strong},
                            run.label,
                            std::string(text_or(run.device, "?")),
                            format_count(run.steps),
                            format_time(run.wall_ns)};
    if (items) cells.push_back(known_or("no data", run.item_ns, format_mean_time));
    if (joules) cells.push_back(energy(run.joules));
    if (items && joules) cells.push_back(energy(run.joules_per_item));
    cells.push_back(known_or("no data", run.speedup,
                             [](double times) { return fmt::format("{:.2f}x", times); }));
    runs.add(std::move(cells));
  }
  return runs.render(style);
}

std::string rates_of(const std::vector<std::optional<double>>& rates, std::size_t run) {
  if (!rates[0] && !rates[run]) return "-";
  const auto one = [](const std::optional<double>& rate) {
    return rate ? fmt::format("{:.3g}", *rate * 1e-12) : std::string("-");
  };
  return fmt::format("{}, {}", one(rates[0]), one(rates[run]));
}

/// Of each run but the first: operators with their rates, what is new, and what is gone.
std::string shapes_table(const Comparison& comparison, std::size_t run, const TextStyle& style,
                         std::size_t rows) {
  const std::string letter = run_letter(run);
  TextTable table({{"operator", Align::left, true},
                   {"inputs", Align::left, true},
                   {"phase", Align::left, false, 1},
                   {"A", Align::right},
                   {letter, Align::right},
                   {letter + " - A", Align::right},
                   {"TFLOP/s", Align::right, false, 2}});
  std::size_t shown = 0;
  for (const auto& row : comparison.shapes) {
    if (shown++ == rows) break;
    std::string name = row.name;
    if (name.starts_with("aten::")) name.erase(0, 6);
    const Nanos change = row.change_ns[run];
    std::string_view state;
    if (row.calls[0] == 0 && row.ns[run] > 0) state = "new";
    if (row.calls[run] == 0 && row.ns[0] > 0) state = "gone";
    if (row.calls[0] == 0 && row.calls[run] == 0) state = {};
    table.add({name, row.shapes, std::string(name_of(row.phase)),
               state == "new" ? Cell("new", Paint::dim) : time_cell(row.ns[0]),
               state == "gone" ? Cell("gone", Paint::dim) : time_cell(row.ns[run]),
               Cell(signed_time(change), paint_of(change)), rates_of(row.flops_per_s, run)});
  }
  return table.render(style);
}

/// Nodes of the differential tree that changed by 4 % of the time of a step.
std::string tree_of_changes(const Comparison& comparison, std::size_t run, const TextStyle& style) {
  constexpr Nanos kParts = 25;
  const std::string letter = run_letter(run);
  std::vector<bool> shown(comparison.tree.size(), false);  // with all nodes above them
  for (std::size_t i = comparison.tree.size(); i-- > 0;) {
    const auto& node = comparison.tree[i];
    if (std::abs(node.change_ns[run]) * kParts >= comparison.runs[0].time_ns) shown[i] = true;
    if (shown[i] && node.parent) shown[static_cast<std::size_t>(*node.parent)] = true;
  }
  TextTable table({{"", Align::left, true},
                   {"A", Align::right},
                   {letter, Align::right},
                   {letter + " - A", Align::right}});
  std::size_t lines = 0;
  for (const auto& node : comparison.tree) {
    const Nanos change = node.change_ns[run];
    if (!shown[static_cast<std::size_t>(node.id)]) continue;
    const auto indent = static_cast<std::size_t>(std::min<std::int64_t>(node.depth, 24));
    const std::string name = node.kind == TreeNodeKind::idle
                                 ? "idle, " + std::string(label_of(cause_labels(), node.name).text)
                                 : node.name;
    table.add({std::string(indent, ' ') + name, time_cell(node.ns[0]), time_cell(node.ns[run]),
               Cell(signed_time(change), paint_of(change))});
    ++lines;
  }
  if (lines < 2) return {};
  return section_title(style, "Call tree", letter + " - A, from 4 % of the time of A") +
         table.render(style);
}

std::string inside_sections(const Comparison& comparison, const TextStyle& style,
                            std::size_t rows) {
  std::string text;
  const bool shapes = std::ranges::any_of(
      comparison.shapes, [](const ComparedShape& row) { return !row.shapes.empty(); });
  for (std::size_t run = 1; run < comparison.runs.size(); ++run) {
    if (shapes)
      text += section_title(style, "Operators by shape", "TFLOP/s of the median call in both") +
              shapes_table(comparison, run, style, rows);
    text += tree_of_changes(comparison, run, style);
  }
  return text;
}

std::string levels_table(const Comparison& comparison, const TextStyle& style) {
  TextTable levels = by_run(comparison, "level");
  for (const auto& level : comparison.levels) {
    if (std::none_of(level.value.begin(), level.value.end(),
                     [](const Share& share) { return share.has_value(); }))
      continue;
    std::vector<Cell> cells{std::string(label_of_metric(level.id).text)};
    for (const Share& share : level.value) cells.push_back(format_share(share));
    levels.add(std::move(cells));
  }
  return levels.render(style);
}

/// Operations, items and tokens per second of each run; nothing where no run knows any.
std::string work_table(const Comparison& comparison, const TextStyle& style) {
  TextTable table = by_run(comparison, "");
  const auto add = [&](const char* name, auto member, auto format) {
    const auto& runs = comparison.runs;
    if (std::none_of(runs.begin(), runs.end(),
                     [&](const ComparedRun& run) { return (run.*member).has_value(); }))
      return;
    std::vector<Cell> cells{name};
    for (const auto& run : runs) {
      if (const auto& value = run.*member)
        cells.push_back(format(*value));
      else
        cells.push_back(Cell("no data", Paint::dim));
    }
    table.add(std::move(cells));
  };
  const auto rate = [](double value) { return format_per_second(value) + " /s"; };
  add("items", &ComparedRun::items_per_s, rate);
  add("tokens", &ComparedRun::tokens_per_s, rate);
  add("operations", &ComparedRun::flops_per_s,
      [](double value) { return format_rate(value, "FLOP/s"); });
  add("MFU", &ComparedRun::mfu, [](double value) { return format_share(value); });
  if (table.empty()) return {};
  return section_title(style, "Result") + table.render(style);
}

std::string queues_table(const Comparison& comparison, const TextStyle& style) {
  TextTable table = by_run(comparison, "queue");
  for (const auto& queue : comparison.queues) {
    std::vector<Cell> depth{queue.id + ": mean depth"}, empty{queue.id + ": empty"},
        wait{queue.id + ": median wait"};
    for (std::size_t run = 0; run < comparison.runs.size(); ++run) {
      depth.push_back(known_or("-", queue.mean_depth[run],
                               [](double mean) { return fmt::format("{:.1f}", mean); }));
      empty.push_back(known_or("-", queue.empty[run], format_share));
      wait.push_back(known_or("-", queue.wait_ns[run], format_mean_time));
    }
    table.add(std::move(depth));
    table.add(std::move(empty));
    table.add(std::move(wait));
  }
  return table.render(style);
}

std::string checks_list(const Comparison& comparison, const TextStyle& style) {
  std::string text;
  for (const auto& check : comparison.checks) {
    Paint how = Paint::bad;
    std::string line = fmt::format("{:<8}", check.failed ? "FAILED" : name_of(check.outcome));
    if (check.outcome == CheckOutcome::ok) how = Paint::good;
    if (check.outcome == CheckOutcome::undecided || check.outcome == CheckOutcome::refused)
      line += "  ";
    line += check.rule + ": " + check.text;
    text += paint(style, how, wrap(line, static_cast<std::size_t>(style.width), 2));
  }
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const TextStyle& style,
                            std::size_t rows) {
  const auto width = static_cast<std::size_t>(style.width);
  const bool by_step = comparison.per == "step";
  std::string text = runs_table(comparison, style) + "\n";
  for (std::size_t run = 1; run < comparison.runs.size(); ++run)
    text += wrap(comparison_headline(comparison, run), width);
  for (const auto& culprit : comparison.culprits)
    text +=
        wrap(run_letter(static_cast<std::size_t>(culprit.run)) + ": " + culprit_sentence(culprit),
             width);
  if (const auto differs = difference_sentence(comparison); !differs.empty())
    text += wrap(differs, width);
  if (!by_step)
    text += wrap(
        "Not every run has steps: the times are those of the whole windows and compare only when "
        "these contain the same work.",
        width);
  if (!comparison.checks.empty())
    text += section_title(style, "Rules") + checks_list(comparison, style);
  text += section_title(style, "Utilization by level") + levels_table(comparison, style);
  text += work_table(comparison, style);
  text += section_title(style, by_step ? "Time breakdown of a step" : "Time breakdown") +
          times(comparison.time, comparison, style, SIZE_MAX, "part", true);
  if (!comparison.phases.empty())
    text += section_title(style, "Framework runtime phases") +
            times(comparison.phases, comparison, style, rows, "phase", false);
  if (!comparison.queues.empty())
    text += section_title(style, "Queue depth") + queues_table(comparison, style);
  text += inside_sections(comparison, style, rows);
  if (!comparison.layers.empty())
    text += section_title(style, "Layers") +
            times(comparison.layers, comparison, style, rows, "layer", false);
  if (!comparison.kernels.empty())
    text += section_title(style, "Kernels") +
            times(comparison.kernels, comparison, style, rows, "kernel", false);
  return text;
}

namespace {

std::string_view name_of_setting(ComparedSetting setting) {
  switch (setting) {
    case ComparedSetting::device:
      return "GPU";
    case ComparedSetting::device_count:
      return "active GPUs";
    case ComparedSetting::batch:
      return "batch";
    case ComparedSetting::precision:
      return "precision";
    case ComparedSetting::profiler:
      return "profiler";
    case ComparedSetting::steps:
      return "source of the steps";
    case ComparedSetting::rank:
      break;
  }
  return "rank";
}

/// "+1.2 %" of a ratio of 1.012.
std::string percent(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

/// The parts of the difference, largest first.
std::string made_of(const Comparison& c, std::size_t other) {
  constexpr std::size_t kNamed = 3;
  std::vector<const ComparedTime*> rows;
  for (const auto& row : c.time)
    if (row.change_ns[other] != 0) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [&](auto* left, auto* right) {
    return std::abs(left->change_ns[other]) > std::abs(right->change_ns[other]);
  });
  Nanos rest = c.runs[other].time_ns - c.runs[0].time_ns;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, rows.size()); ++i) {
    if (i > 0) text += ", ";
    text += row_name(*rows[i]) + " " + signed_time(rows[i]->change_ns[other]);
    rest -= rows[i]->change_ns[other];
  }
  if (rows.size() > kNamed) text += ", the rest " + signed_time(rest);
  return text;
}

/// "A step of B takes 7.290 ms less than one of A (1.17x as fast, 95 %: 1.12-1.22x)".
std::string whole_difference(const Comparison& c, const ComparedChange& change, std::size_t other) {
  const Nanos difference = c.runs[other].wall_ns - c.runs[0].wall_ns;
  std::string_view subject = "The window of ", object = "that";
  if (c.per == "step") {
    subject = "A step of ";
    object = "one";
  }
  const char* way = difference < 0 ? "less" : "more";
  std::string text = fmt::format("{}{} takes {} {} than {} of A", subject, run_letter(other),
                                 format_time(std::abs(difference)), way, object);
  if (!change.ratio) return text;
  text +=
      fmt::format(" ({}{:.2f}x as fast", change.of == "item" ? "an item " : "", 1 / *change.ratio);
  if (change.low && change.high)
    text += fmt::format(", 95 %: {:.2f}-{:.2f}x", 1 / *change.high, 1 / *change.low);
  return text + ")";
}

/// What may be said of the programs without their profilers.
std::string without_profilers(const ComparedChange& change) {
  if (!change.own_low || !change.own_high || !change.kernel_ratio) return {};
  return fmt::format(
      " A profiler slowed the host: by kernel time alone it is {:.2f}x, and without the profiler "
      "likely between {:.2f}x and {:.2f}x.",
      1 / *change.kernel_ratio, 1 / *change.own_high, 1 / *change.own_low);
}

std::string same_job(const Comparison& c, std::size_t other) {
  return fmt::format(
      "A and {} are ranks {} and {} of one job. They wait for each other, so neither is faster; "
      "the communication rows show which one waits: less time means arriving later.",
      run_letter(other), *c.runs[0].rank, *c.runs[other].rank);
}

}  // namespace

std::string signed_time(Nanos ns) {
  if (ns == 0) return "0";
  return ns < 0 ? "-" + format_time(-ns) : "+" + format_time(ns);
}

std::string run_letter(std::size_t run) {
  return run >= 26 ? std::to_string(run + 1) : std::string(1, static_cast<char>('A' + run));
}

std::string row_name(const ComparedTime& row) {
  if (row.kind == ComparedRowKind::idle)
    return "idle: " + std::string(label_of(cause_labels(), row.name).text);
  if (row.kind == ComparedRowKind::bar) return std::string(label_of(bar_labels(), row.name).text);
  if (row.kind == ComparedRowKind::phase)
    return std::string(label_of(phase_labels(), row.name).text);
  return std::string(text_or(row.label, "(no name)"));
}

std::string comparison_headline(const Comparison& c, std::size_t other) {
  const ComparedChange& change = c.changes[other - 1];
  const Nanos difference = c.runs[other].wall_ns - c.runs[0].wall_ns;
  const bool by_step = c.per == "step";
  if (change.verdict == ComparedVerdict::same_job) return same_job(c, other);
  if (c.runs[0].wall_ns == 0 || difference == 0)
    return fmt::format("{}{} takes as long as {} of A.", by_step ? "A step of " : "The window of ",
                       run_letter(other), by_step ? "one" : "that");
  if (change.verdict == ComparedVerdict::no_difference)
    return fmt::format("No difference beyond noise: {} of {} takes {} against A (95 %: {} to {}).",
                       change.of == "item" ? "an item" : "a step", run_letter(other),
                       percent(*change.ratio), percent(*change.low), percent(*change.high)) +
           without_profilers(change);
  std::string text = whole_difference(c, change, other) + ": " + made_of(c, other) + ".";
  if (by_step && change.verdict == ComparedVerdict::not_known)
    text += " With fewer than three steps in a run, the noise is unknown.";
  return text + without_profilers(change);
}

std::string culprit_sentence(const ComparedCulprit& culprit) {
  std::string text = "most kernel time is lost in " + culprit.name;
  if (!culprit.shapes.empty()) text += " " + culprit.shapes;
  if (culprit.phase != TrainingPhase::all) text += fmt::format(" ({})", name_of(culprit.phase));
  if (!culprit.module.empty()) text += " of " + culprit.module;
  text += fmt::format(", {} after {} ({})", format_time(culprit.after_ns),
                      format_time(culprit.before_ns),
                      signed_time(culprit.after_ns - culprit.before_ns));
  if (culprit.kind == CulpritKind::replaced)
    text += fmt::format(": kernel {} in place of {}", culprit.kernel, culprit.kernel_before);
  else if (!culprit.kernel.empty())
    text += ": kernel " + culprit.kernel;
  if (culprit.kind == CulpritKind::fresh) text += ", which A does not run";
  if (culprit.kind == CulpritKind::more_calls)
    text += fmt::format(", {:.4g} calls a step after {:.4g}", culprit.calls_after,
                        culprit.calls_before);
  if (culprit.flops_per_s_before.value_or(0) > 0 && culprit.flops_per_s_after.value_or(0) > 0)
    text += fmt::format(", {} after {}", format_rate(*culprit.flops_per_s_after, "FLOP/s"),
                        format_rate(*culprit.flops_per_s_before, "FLOP/s"));
  if (!culprit.python.empty()) text += ", from " + culprit.python;
  return text + ".";
}

namespace {

std::vector<const ComparedShape*> only_in(const Comparison& c, std::size_t has, std::size_t lacks) {
  constexpr Nanos kParts = 100;
  std::vector<const ComparedShape*> rows;
  for (const auto& row : c.shapes)
    if (row.calls[has] > 0 && row.calls[lacks] == 0 && row.ns[lacks] == 0 &&
        row.ns[has] * kParts >= c.runs[0].time_ns)
      rows.push_back(&row);
  return rows;
}

}  // namespace

std::vector<const ComparedShape*> gone_shapes(const Comparison& c, std::size_t other) {
  return only_in(c, 0, other);
}

std::vector<const ComparedShape*> new_shapes(const Comparison& c, std::size_t other) {
  return only_in(c, other, 0);
}

std::string difference_sentence(const Comparison& c) {
  std::string text;
  for (const auto& difference : c.differences) {
    if (difference.setting == ComparedSetting::rank && c.ranks_of_one_job) continue;
    if (text.empty())
      text = "Other differences: ";
    else
      text += "; ";
    text += name_of_setting(difference.setting);
    text += " (";
    for (std::size_t run = 0; run < difference.values.size(); ++run) {
      if (run > 0) text += ", ";
      text += run_letter(run) + " ";
      text += text_or(difference.values[run], "not known");
    }
    text += ")";
  }
  if (!text.empty()) text += ".";
  return text;
}

}  // namespace gf
