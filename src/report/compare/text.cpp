#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/when.h"
#include "report/compare/compare.h"
#include "report/labels.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

std::string signed_time(Nanos ns) {
  if (ns == 0) return "0";
  return (ns > 0 ? "+" : "-") + format_time(std::abs(ns));
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
    for (Nanos ns : rows[i].ns)
      cells.push_back(ns == 0 ? Cell("-", Paint::dim) : Cell(format_time(ns)));
    for (std::size_t run = 1; run < comparison.runs.size(); ++run) {
      const Nanos change = rows[i].change_ns[run];
      cells.push_back({signed_time(change), change < 0   ? Paint::good
                                            : change > 0 ? Paint::bad
                                                         : Paint::dim});
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

}  // namespace

std::string row_name(const ComparedTime& row) {
  if (row.kind == ComparedKind::idle)
    return "idle: " + std::string(label_of(cause_labels(), row.name).text);
  if (row.kind == ComparedKind::bar) return std::string(label_of(bar_labels(), row.name).text);
  if (row.label.empty()) return "(no name)";
  return row.label;
}

std::string run_letter(std::size_t run) {
  if (run < 26) return std::string(1, static_cast<char>('A' + run));
  return std::to_string(run + 1);
}

std::string comparison_headline(const Comparison& comparison, std::size_t other) {
  const Nanos before = comparison.runs[0].time_ns, after = comparison.runs[other].time_ns,
              change = after - before;
  std::string what = "The window of ";
  if (comparison.per == "step") what = "A step of ";
  if (before == 0 || change == 0)
    return what + run_letter(other) + " takes as long as " +
           (comparison.per == "step" ? "one of A." : "that of A.");
  std::string text =
      fmt::format("{}{} takes {} {} than {} of A ({:.2f}x as fast): ", what, run_letter(other),
                  format_time(std::abs(change)), change < 0 ? "less" : "more",
                  comparison.per == "step" ? "one" : "that", *comparison.runs[other].speedup);
  std::vector<const ComparedTime*> rows;
  for (const auto& row : comparison.time)
    if (row.change_ns[other] != 0) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [&](auto* left, auto* right) {
    return std::abs(left->change_ns[other]) > std::abs(right->change_ns[other]);
  });
  Nanos rest = change;
  std::size_t named = 0;
  for (; named < std::min<std::size_t>(3, rows.size()); ++named) {
    text += when(named > 0, ", ") + row_name(*rows[named]) + " " +
            signed_time(rows[named]->change_ns[other]);
    rest -= rows[named]->change_ns[other];
  }
  if (named < rows.size()) text += ", the rest " + signed_time(rest);
  return text + ".";
}

std::string comparison_text(const Comparison& comparison, const TextStyle& style,
                            std::size_t rows) {
  std::string text;
  TextTable runs({{"", Align::left},
                  {"run", Align::left, true},
                  {"device", Align::left, true},
                  {"steps", Align::right},
                  {comparison.per, Align::right},
                  {"speed", Align::right}});
  for (std::size_t index = 0; index < comparison.runs.size(); ++index) {
    const auto& run = comparison.runs[index];
    runs.add({{run_letter(index), Paint::strong},
              run.path.substr(run.path.rfind('/') + 1),
              run.device.empty() ? "?" : run.device,
              format_count(run.steps),
              format_time(run.time_ns),
              run.speedup ? fmt::format("{:.2f}x", *run.speedup) : "no data"});
  }
  text += runs.render(style) + "\n";
  for (std::size_t run = 1; run < comparison.runs.size(); ++run)
    text += wrap(comparison_headline(comparison, run), static_cast<std::size_t>(style.width));
  if (comparison.per == "window")
    text += wrap(
        "Not every run has steps: the times are those of the whole windows and compare only when "
        "these hold the same work.",
        static_cast<std::size_t>(style.width));
  std::vector<TableColumn> columns{{"level", Align::left, true}};
  for (std::size_t run = 0; run < comparison.runs.size(); ++run)
    columns.push_back({run_letter(run), Align::right});
  TextTable levels(std::move(columns));
  for (const auto& level : comparison.levels) {
    if (std::none_of(level.value.begin(), level.value.end(),
                     [](const Share& share) { return share.has_value(); }))
      continue;
    std::vector<Cell> cells{std::string(label_of(level_labels(), level.id).text)};
    for (const Share& share : level.value) cells.push_back(format_share(share));
    levels.add(std::move(cells));
  }
  text += section_title(style, "How deep the device was used") + levels.render(style);
  text += section_title(style, comparison.per == "step" ? "Where the time of a step goes"
                                                        : "Where the time goes") +
          times(comparison.time, comparison, style, SIZE_MAX, "part", true);
  if (!comparison.layers.empty())
    text += section_title(style, "Layers") +
            times(comparison.layers, comparison, style, rows, "layer", false);
  if (!comparison.kernels.empty())
    text += section_title(style, "Kernels") +
            times(comparison.kernels, comparison, style, rows, "kernel", false);
  return text;
}

}  // namespace gf
