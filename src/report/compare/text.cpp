#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "report/compare/compare.h"
#include "report/labels.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

std::string signed_time(Nanos ns) {
  return ns == 0 ? "0" : (ns > 0 ? "+" : "-") + format_time(std::abs(ns));
}

/// The runs' times, and what the others have more than the first.
std::string times(const std::vector<ComparedTime>& rows, const Comparison& c,
                  const TextStyle& style, std::size_t shown, const char* title, bool total) {
  std::vector<TableColumn> columns{{title, Align::left, true}};
  for (std::size_t r = 0; r < c.runs.size(); ++r) columns.push_back({run_letter(r), Align::right});
  for (std::size_t r = 1; r < c.runs.size(); ++r)
    columns.push_back({run_letter(r) + " - A", Align::right});
  TextTable table(std::move(columns));
  for (std::size_t i = 0; i < std::min(shown, rows.size()); ++i) {
    std::vector<Cell> cells{row_name(rows[i])};
    for (Nanos ns : rows[i].ns)
      cells.push_back(ns == 0 ? Cell("-", Paint::dim) : Cell(format_time(ns)));
    for (std::size_t r = 1; r < c.runs.size(); ++r) {
      const Nanos change = rows[i].change_ns[r];
      cells.push_back({signed_time(change), change < 0   ? Paint::good
                                            : change > 0 ? Paint::bad
                                                         : Paint::dim});
    }
    table.add(std::move(cells));
  }
  if (total) {
    std::vector<Cell> cells{{"total", Paint::strong}};
    for (const auto& run : c.runs) cells.push_back({format_time(run.time_ns), Paint::strong});
    for (std::size_t r = 1; r < c.runs.size(); ++r)
      cells.push_back({signed_time(c.runs[r].time_ns - c.runs[0].time_ns), Paint::strong});
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
  return row.label.empty() ? "(no name)" : row.label;
}

std::string run_letter(std::size_t run) {
  return run < 26 ? std::string(1, static_cast<char>('A' + run)) : std::to_string(run + 1);
}

std::string comparison_headline(const Comparison& c, std::size_t other) {
  const Nanos before = c.runs[0].time_ns, after = c.runs[other].time_ns, change = after - before;
  const std::string what = c.per == "step" ? "A step of " : "The window of ";
  if (before == 0 || change == 0)
    return what + run_letter(other) + " takes as long as " +
           (c.per == "step" ? "one of A." : "that of A.");
  std::string text =
      fmt::format("{}{} takes {} {} than {} of A ({:.2f}x as fast): ", what, run_letter(other),
                  format_time(std::abs(change)), change < 0 ? "less" : "more",
                  c.per == "step" ? "one" : "that", *c.runs[other].speedup);
  std::vector<const ComparedTime*> rows;
  for (const auto& row : c.time)
    if (row.change_ns[other] != 0) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [&](auto* a, auto* b) {
    return std::abs(a->change_ns[other]) > std::abs(b->change_ns[other]);
  });
  Nanos rest = change;
  std::size_t named = 0;
  for (; named < std::min<std::size_t>(3, rows.size()); ++named) {
    text += (named ? ", " : "") + row_name(*rows[named]) + " " +
            signed_time(rows[named]->change_ns[other]);
    rest -= rows[named]->change_ns[other];
  }
  if (named < rows.size()) text += ", the rest " + signed_time(rest);
  return text + ".";
}

std::string comparison_text(const Comparison& c, const TextStyle& style, std::size_t rows) {
  std::string text;
  TextTable runs({{"", Align::left},
                  {"run", Align::left, true},
                  {"device", Align::left, true},
                  {"steps", Align::right},
                  {c.per, Align::right},
                  {"speed", Align::right}});
  for (std::size_t r = 0; r < c.runs.size(); ++r) {
    const auto& run = c.runs[r];
    runs.add({{run_letter(r), Paint::strong},
              run.path.substr(run.path.rfind('/') + 1),
              run.device.empty() ? "?" : run.device,
              format_count(run.steps),
              format_time(run.time_ns),
              run.speedup ? fmt::format("{:.2f}x", *run.speedup) : "no data"});
  }
  text += runs.render(style) + "\n";
  for (std::size_t r = 1; r < c.runs.size(); ++r)
    text += wrap(comparison_headline(c, r), static_cast<std::size_t>(style.width));
  if (c.per == "window")
    text += wrap(
        "Not every run has steps: the times are those of the whole windows and compare only when "
        "these hold the same work.",
        static_cast<std::size_t>(style.width));
  std::vector<TableColumn> columns{{"level", Align::left, true}};
  for (std::size_t r = 0; r < c.runs.size(); ++r) columns.push_back({run_letter(r), Align::right});
  TextTable levels(std::move(columns));
  for (const auto& level : c.levels) {
    if (std::none_of(level.value.begin(), level.value.end(),
                     [](const Share& v) { return v.has_value(); }))
      continue;
    std::vector<Cell> cells{std::string(label_of(level_labels(), level.id).text)};
    for (const Share& v : level.value) cells.push_back(format_share(v));
    levels.add(std::move(cells));
  }
  text += section_title(style, "How deep the device was used") + levels.render(style);
  text += section_title(style,
                        c.per == "step" ? "Where the time of a step goes" : "Where the time goes") +
          times(c.time, c, style, SIZE_MAX, "part", true);
  if (!c.layers.empty())
    text += section_title(style, "Layers") + times(c.layers, c, style, rows, "layer", false);
  if (!c.kernels.empty())
    text += section_title(style, "Kernels") + times(c.kernels, c, style, rows, "kernel", false);
  return text;
}

}  // namespace gf
