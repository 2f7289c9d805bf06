#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "report/compare/compare.h"
#include "report/text/format.h"

namespace gf {

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
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
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #8884; font-variant-numeric: tabular-nums; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; }
.less { color: #0a7d32; } .more { color: #c0392b; } tfoot { font-weight: bold; }
.bar { display: inline-block; height: .6rem; vertical-align: middle; opacity: .6; }
.less .bar { background: #0a7d32; } .more .bar { background: #c0392b; }
</style>
<h1>gpufathom compare</h1>
)";

std::string change_cell(Nanos change, Nanos largest) {
  if (change == 0) return "<td>0</td>";
  const double width = largest > 0 ? 6.0 * static_cast<double>(std::abs(change)) / static_cast<double>(largest) : 0;
  return fmt::format("<td class=\"{}\" title=\"{} ns\"><span class=\"bar\" style=\"width:{:.2f}rem\"></span> {}{}</td>", change < 0 ? "less" : "more", change, width,
                     change < 0 ? "−" : "+", format_time(std::abs(change)));
}

std::string table(const Comparison& c, const std::vector<ComparedTime>& rows, std::string_view title, bool total) {
  std::string out = fmt::format("<h2>{}</h2>\n<table><thead><tr><th></th>", title);
  for (std::size_t r = 0; r < c.runs.size(); ++r) out += "<th>" + run_letter(r) + "</th>";
  for (std::size_t r = 1; r < c.runs.size(); ++r) out += "<th>" + run_letter(r) + " − A</th>";
  out += "</tr></thead>\n<tbody>\n";
  Nanos largest = 0;
  for (const auto& row : rows)
    for (Nanos change : row.change_ns) largest = std::max<Nanos>(largest, std::abs(change));
  for (const auto& row : rows) {
    out += "<tr><td>" + escaped(row_name(row)) + "</td>";
    for (Nanos ns : row.ns) out += fmt::format("<td title=\"{} ns\">{}</td>", ns, ns == 0 ? "–" : format_time(ns));
    for (std::size_t r = 1; r < c.runs.size(); ++r) out += change_cell(row.change_ns[r], largest);
    out += "</tr>\n";
  }
  out += "</tbody>\n";
  if (total) {
    out += "<tfoot><tr><td>total</td>";
    for (const auto& run : c.runs) out += fmt::format("<td title=\"{} ns\">{}</td>", run.time_ns, format_time(run.time_ns));
    for (std::size_t r = 1; r < c.runs.size(); ++r) out += change_cell(c.runs[r].time_ns - c.runs[0].time_ns, 0);
    out += "</tr></tfoot>\n";
  }
  return out + "</table>\n";
}

}  // namespace

std::string comparison_page(const Comparison& c) {
  std::string out(kHead);
  out += "<table><thead><tr><th>run</th><th>device</th><th>steps</th><th>time of a " + c.per + "</th><th>speed</th></tr></thead><tbody>\n";
  for (std::size_t r = 0; r < c.runs.size(); ++r) {
    const auto& run = c.runs[r];
    out += fmt::format("<tr><td><b>{}</b> {}</td><td>{}</td><td>{}</td><td title=\"{} ns\">{}</td><td>{}</td></tr>\n", run_letter(r), escaped(run.path), escaped(run.device), run.steps,
                       run.time_ns, format_time(run.time_ns), run.speedup ? fmt::format("{:.2f} ×", *run.speedup) : "no data");
  }
  out += "</tbody></table>\n";
  for (std::size_t r = 1; r < c.runs.size(); ++r) out += "<p>" + escaped(comparison_headline(c, r)) + "</p>\n";
  out += "<h2>How deep the device was used</h2>\n<table><thead><tr><th></th>";
  for (std::size_t r = 0; r < c.runs.size(); ++r) out += "<th>" + run_letter(r) + "</th>";
  out += "</tr></thead><tbody>\n";
  for (const auto& level : c.levels) {
    out += "<tr><td>" + escaped(level.id) + "</td>";
    for (const Share& v : level.value) out += "<td>" + format_share(v) + "</td>";
    out += "</tr>\n";
  }
  out += "</tbody></table>\n";
  out += table(c, c.time, c.per == "step" ? "Where the time of a step goes" : "Where the time goes", true);
  if (!c.layers.empty()) out += table(c, c.layers, "Layers", false);
  if (!c.kernels.empty()) out += table(c, c.kernels, "Kernels", false);
  return out + "</html>\n";
}

}  // namespace gf
