#include "report/text/analysis.h"

#include <algorithm>

#include "report/summary.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/style.h"

namespace gf {

namespace {

constexpr std::size_t kFirstFindings = 3;  // on the first screen

std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

std::string opening(const Analysis& analysis, const TextStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string files(file_name(analysis.source.path));
  if (analysis.counters_source && analysis.counters_source->path != analysis.source.path)
    files += " + " + std::string(file_name(analysis.counters_source->path));
  const std::string what = subject(analysis);
  std::size_t left = width > columns_of(what) + 2 ? width - columns_of(what) - 2 : 0;
  std::string out;
  if (left < 30)
    out = paint(style, Paint::dim, shorten_middle(files, width)) + "\n" +
          paint(style, Paint::dim, shorten_middle(what, width)) + "\n";
  else {
    const std::string shown = shorten_middle(files, left);
    out = paint(style, Paint::dim,
                shown + std::string(width - columns_of(shown) - columns_of(what), ' ') + what) +
          "\n";
  }
  out += paint(style, Paint::strong, wrap(headline(analysis), width));
  for (const auto& text : shortcomings(analysis))
    out += paint(style, Paint::warn, wrap("Incomplete: " + text, width));
  return out;
}

}  // namespace

std::string analysis_text(const Analysis& analysis, const TextStyle& style, std::size_t rows) {
  std::string out = opening(analysis, style);
  if (!analysis.devices.empty()) {
    out += findings_section(analysis, style, 0, std::min(rows, kFirstFindings));
    out += ladder_section(analysis, style);
    out += waterfall_section(analysis, style);
    out += over_time_section(analysis, style);
    out += devices_section(analysis, style);
    out += tenants_section(analysis, style);
    out += idle_section(analysis, style, rows);
    out += findings_section(analysis, style, kFirstFindings, rows);
    out += runtime_section(analysis, style, rows);
    out += layers_section(analysis, style, rows);
    out += kernels_section(analysis, style, rows);
    out += readings_section(analysis, style);
    out += energy_section(analysis.energy, style, std::min<std::size_t>(rows, 8));
  } else {
    out += runtime_section(analysis, style, rows);
  }
  return out + matching_section(analysis, style) + collect_section(analysis, style) +
         quality_section(analysis, style);
}

std::string brief_text(const Analysis& analysis, const TextStyle& style) {
  std::string out = opening(analysis, style);
  if (analysis.devices.empty()) return out;
  Analysis without_numbers = analysis;
  for (auto& finding : without_numbers.findings) finding.evidence.clear();
  // The commands that collect what is missing stand in the long form.
  for (auto& level : without_numbers.levels)
    level.why_missing = level.why_missing.substr(0, level.why_missing.find("; collect with"));
  return out + ladder_section(analysis, style) +
         findings_section(without_numbers, style, 0, kFirstFindings);
}

}  // namespace gf
