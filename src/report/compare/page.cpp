#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/when.h"
#include "report/compare/compare.h"
#include "report/labels.h"
#include "report/text/format.h"

namespace gf {

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (char letter : text) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>gpufathom compare</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin-bottom: 2rem; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #8884; }
th, td { font-variant-numeric: tabular-nums; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 9rem; }
th:first-child, td:first-child { overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin-bottom: 2rem; } .wide table { margin: 0; }
.runs td:nth-child(2), .runs th:nth-child(2) { text-align: left; }
.more-rows:not(:checked) + .wide tr.rest { display: none; }
.more-rows + .wide + label { cursor: pointer; text-decoration: underline; }
.more-rows:checked + .wide + label { display: none; }
.more-rows { position: absolute; opacity: 0; }
.more-rows:focus-visible + .wide + label { outline: 2px solid; }
.less { color: #0a7d32; } .more { color: #c0392b; } tfoot { font-weight: bold; }
.bar { display: inline-block; height: .6rem; vertical-align: middle; opacity: .6; }
.less .bar { background: #0a7d32; } .more .bar { background: #c0392b; }
</style>
<h1>gpufathom compare</h1>
)";

std::string change_cell(Nanos change, Nanos largest) {
  if (change == 0) return "<td>0</td>";
  double width = 0;
  if (largest > 0)
    width = 6.0 * static_cast<double>(std::abs(change)) / static_cast<double>(largest);
  return fmt::format(
      "<td class=\"{}\" title=\"{} ns\"><span class=\"bar\" style=\"width:{:.2f}rem\"></span> "
      "{}{}</td>",
      change < 0 ? "less" : "more", change, width, change < 0 ? "−" : "+",
      format_time(std::abs(change)));
}

std::string table(const Comparison& comparison, const std::vector<ComparedTime>& rows,
                  std::string_view title, bool total, std::size_t shown = SIZE_MAX) {
  // Without scripts: a box that is pressed shows the rest.
  const bool folded = rows.size() > shown;
  std::string out = fmt::format("<h2>{}</h2>\n", title);
  if (folded)
    out += fmt::format("<input type=\"checkbox\" class=\"more-rows\" id=\"all-{}\">", title);
  out += "<div class=\"wide\"><table><thead><tr><th></th>";
  for (std::size_t run = 0; run < comparison.runs.size(); ++run)
    out += "<th>" + run_letter(run) + "</th>";
  for (std::size_t run = 1; run < comparison.runs.size(); ++run)
    out += "<th>" + run_letter(run) + " − A</th>";
  out += "</tr></thead>\n<tbody>\n";
  Nanos largest = 0;
  for (const auto& row : rows)
    for (Nanos change : row.change_ns) largest = std::max<Nanos>(largest, std::abs(change));
  for (const auto& row : rows) {
    out += fmt::format(
        "<tr{}><td title=\"{}\">{}</td>",
        when(&row - rows.data() >= static_cast<std::ptrdiff_t>(std::min(shown, rows.size())),
             " class=\"rest\""),
        escaped(row.name), escaped(row_name(row)));
    for (Nanos ns : row.ns)
      out += fmt::format("<td title=\"{} ns\">{}</td>", ns, ns == 0 ? "–" : format_time(ns));
    for (std::size_t run = 1; run < comparison.runs.size(); ++run)
      out += change_cell(row.change_ns[run], largest);
    out += "</tr>\n";
  }
  out += "</tbody>\n";
  if (total) {
    out += "<tfoot><tr><td>total</td>";
    for (const auto& run : comparison.runs)
      out += fmt::format("<td title=\"{} ns\">{}</td>", run.time_ns, format_time(run.time_ns));
    for (std::size_t run = 1; run < comparison.runs.size(); ++run)
      out += change_cell(comparison.runs[run].time_ns - comparison.runs[0].time_ns, 0);
    out += "</tr></tfoot>\n";
  }
  out += "</table></div>\n";
  if (folded)
    out += fmt::format("<label for=\"all-{}\">Show {} more of {}</label>\n", title,
                       format_count(static_cast<std::int64_t>(rows.size() - shown)),
                       plural(static_cast<std::int64_t>(rows.size()), "row"));
  return out;
}

std::string checks(const Comparison& comparison) {
  if (comparison.checks.empty()) return {};
  std::string out = "<ul>\n";
  for (const auto& check : comparison.checks)
    out +=
        fmt::format("<li class=\"{}\"><b>{}</b> {}: {}</li>\n", check.failed ? "more" : "less",
                    check.failed ? "failed" : "passed", escaped(check.rule), escaped(check.text));
  return out + "</ul>\n";
}

std::string queues(const Comparison& comparison) {
  if (comparison.queues.empty()) return {};
  std::string out = "<h2>How full its queues are</h2>\n<div class=\"wide\"><table><thead><tr>";
  out += "<th></th>";
  for (std::size_t run = 0; run < comparison.runs.size(); ++run)
    out += "<th>" + run_letter(run) + "</th>";
  out += "</tr></thead><tbody>\n";
  for (const auto& queue : comparison.queues) {
    out += "<tr><td>" + escaped(queue.id) + ": mean depth</td>";
    for (const auto& depth : queue.mean_depth)
      out += depth ? fmt::format("<td>{:.1f}</td>", *depth) : "<td>–</td>";
    out += "</tr>\n<tr><td>" + escaped(queue.id) + ": empty</td>";
    for (const auto& share : queue.empty)
      out += share ? "<td>" + format_share(share) + "</td>" : "<td>–</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace

std::string comparison_page(const Comparison& comparison, std::size_t rows) {
  std::string out(kHead);
  out +=
      "<div class=\"wide\"><table "
      "class=\"runs\"><thead><tr><th>run</th><th>device</th><th>steps</th><th>time of a " +
      comparison.per + "</th><th>speed</th></tr></thead><tbody>\n";
  for (std::size_t index = 0; index < comparison.runs.size(); ++index) {
    const auto& run = comparison.runs[index];
    out += fmt::format(
        "<tr><td><b>{}</b> {}</td><td>{}</td><td>{}</td><td title=\"{} "
        "ns\">{}</td><td>{}</td></tr>\n",
        run_letter(index), escaped(run.path), escaped(run.device), run.steps, run.wall_ns,
        format_time(run.wall_ns), run.speedup ? fmt::format("{:.2f}×", *run.speedup) : "no data");
  }
  out += "</tbody></table></div>\n";
  for (std::size_t run = 1; run < comparison.runs.size(); ++run)
    out += "<p>" + escaped(comparison_headline(comparison, run)) + "</p>\n";
  if (const auto differs = difference_sentence(comparison); !differs.empty())
    out += "<p>" + escaped(differs) + "</p>\n";
  out += checks(comparison);
  if (comparison.per == "window")
    out +=
        "<p>Not every run has steps: the times are those of the whole windows and compare only "
        "when these hold the same work.</p>\n";
  out += "<h2>How deep the device was used</h2>\n<div class=\"wide\"><table><thead><tr><th></th>";
  for (std::size_t run = 0; run < comparison.runs.size(); ++run)
    out += "<th>" + run_letter(run) + "</th>";
  out += "</tr></thead><tbody>\n";
  for (const auto& level : comparison.levels) {
    if (std::none_of(level.value.begin(), level.value.end(),
                     [](const Share& share) { return share.has_value(); }))
      continue;
    out += fmt::format("<tr><td title=\"{}\">{}</td>", escaped(level.id),
                       label_of(level_labels(), level.id).text);
    for (const Share& share : level.value) out += "<td>" + format_share(share) + "</td>";
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  out += table(comparison, comparison.time,
               comparison.per == "step" ? "Where the time of a step goes" : "Where the time goes",
               true);
  if (!comparison.phases.empty())
    out += table(comparison, comparison.phases, "What the runtime does meanwhile", false);
  out += queues(comparison);
  if (!comparison.layers.empty())
    out += table(comparison, comparison.layers, "Layers", false, rows);
  if (!comparison.kernels.empty())
    out += table(comparison, comparison.kernels, "Kernels", false, rows);
  return out + "</html>\n";
}

}  // namespace gf
