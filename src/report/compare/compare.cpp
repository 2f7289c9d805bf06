#include "report/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/text.h"
#include "report/compare/verdict_words.h"
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
                  const TextStyle& style, std::size_t shown, const char* title, bool total,
                  bool full) {
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
  if (total && rows.size() > shown) {
    std::vector<Cell> cells{plural(static_cast<std::int64_t>(rows.size() - shown), "other part")};
    std::vector<Nanos> ns(comparison.runs.size());
    for (std::size_t i = shown; i < rows.size(); ++i)
      for (std::size_t run = 0; run < ns.size(); ++run) ns[run] += rows[i].ns[run];
    for (const Nanos of_run : ns) cells.push_back(time_cell(of_run));
    for (std::size_t run = 1; run < ns.size(); ++run)
      cells.push_back({signed_time(ns[run] - ns[0]), paint_of(ns[run] - ns[0])});
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
  if (full && rows.size() > shown)
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
                                   {"run", Align::left},
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
  constexpr std::size_t kLabel = 26;
  const auto labels = short_labels(comparison, kLabel);
  for (std::size_t index = 0; index < comparison.runs.size(); ++index) {
    const auto& run = comparison.runs[index];
    std::vector<Cell> cells{{run_letter(index), Paint::strong},
                            labels[index],
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

/// Operators with their rates, for each run but the first. Another name is another row here.
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
    table.add({name, row.shapes, std::string(name_of(row.phase)), time_cell(row.ns[0]),
               time_cell(row.ns[run]), Cell(signed_time(change), paint_of(change)),
               rates_of(row.flops_per_s, run)});
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

/// The sentences about the runs, before any table.
std::string head(const Comparison& comparison, const TextStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string text = runs_table(comparison, style) + "\n";
  for (std::size_t run = 1; run < comparison.runs.size(); ++run) {
    text += wrap(comparison_headline(comparison, run), width);
    for (const auto& likeness : comparison.likeness)
      if (likeness.run == static_cast<std::int64_t>(run))
        if (const auto alike = alike_sentence(likeness); !alike.empty()) text += wrap(alike, width);
    const auto letter = run_letter(run);
    bool first = true;
    for (const auto& culprit : comparison.culprits) {
      if (culprit.run != static_cast<std::int64_t>(run)) continue;
      const bool by_item = comparison.changes[run - 1].of == "item";
      if (first)
        text += fmt::format("What adds time to {} {} of {}{}:\n",
                            comparison.per == "step" ? "a" : "the", comparison.per, letter,
                            by_item ? ", for as many items" : "");
      first = false;
      text += wrap("- " + culprit_sentence(culprit), width, 2);
    }
  }
  if (const auto differs = difference_sentence(comparison); !differs.empty())
    text += wrap(differs, width);
  if (comparison.per != "step")
    text += wrap(
        "Not every run has steps: the times are those of the whole windows and compare only when "
        "these contain the same work.",
        width);
  if (!comparison.checks.empty())
    text += section_title(style, "Rules") + checks_list(comparison, style);
  return text;
}

std::string parts_table(const Comparison& comparison, const TextStyle& style, std::size_t rows,
                        bool full) {
  const bool several =
      std::ranges::any_of(comparison.runs, [](const auto& run) { return run.devices > 1; });
  return section_title(
             style, fmt::format("Time breakdown{}{}", comparison.per == "step" ? " of a step" : "",
                                several ? ", all GPUs together" : "")) +
         times(comparison.time, comparison, style, rows, "part", true, full);
}

std::string roles_table(const Comparison& comparison, const TextStyle& style, std::size_t rows) {
  std::vector<ComparedTime> lines;
  for (const auto& role : comparison.roles) {
    ComparedTime line;
    line.kind = ComparedRowKind::layer;
    line.name = line.label = role_text(role.role, role.phase);
    line.ns = role.ns;
    line.change_ns = role.change_ns;
    lines.push_back(std::move(line));
  }
  return times(lines, comparison, style, rows, "role", false, true);
}

std::string all_tables(const Comparison& comparison, const TextStyle& style, std::size_t rows) {
  std::string text = section_title(style, "Utilization by level") + levels_table(comparison, style);
  text += work_table(comparison, style);
  text += parts_table(comparison, style, SIZE_MAX, true);
  if (!comparison.phases.empty())
    text += section_title(style, "Framework runtime phases") +
            times(comparison.phases, comparison, style, rows, "phase", false, true);
  if (!comparison.queues.empty())
    text += section_title(style, "Queue depth") + queues_table(comparison, style);
  if (!comparison.roles.empty())
    text += section_title(style, "Kernels by role") + roles_table(comparison, style, rows);
  text += inside_sections(comparison, style, rows);
  if (!comparison.layers.empty())
    text += section_title(style, "Layers") +
            times(comparison.layers, comparison, style, rows, "layer", false, true);
  if (!comparison.kernels.empty())
    text += section_title(style, "Kernels") +
            times(comparison.kernels, comparison, style, rows, "kernel", false, true);
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const TextStyle& style, bool full,
                            std::size_t rows) {
  std::string text = head(comparison, style);
  if (full) return text + all_tables(comparison, style, rows);
  // Lines of a screen of 45: heading, titles, total, how many more and the last line.
  constexpr std::ptrdiff_t kScreen = 45, kAround = 6, kLeast = 3;
  const auto left = kScreen - kAround - std::ranges::count(text, '\n');
  text += parts_table(comparison, style, static_cast<std::size_t>(std::max(left, kLeast)), false);
  return text + paint(style, Paint::dim, "--full shows all tables.\n");
}

}  // namespace gf
