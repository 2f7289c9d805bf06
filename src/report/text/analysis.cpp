#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/files.h"
#include "report/summary.h"
#include "report/text/format.h"
#include "report/text/reports.h"
#include "report/text/sections.h"

namespace gf {

namespace {

constexpr std::size_t kFirstFindings = 3;  // on the first screen

std::string opening(const Analysis& analysis, const TextStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string out = title_line(analysis.source, analysis.counters_source, subject(analysis), style);
  out += paint(style, Paint::strong, wrap(headline(analysis), width));
  for (const auto& text : shortcomings(analysis))
    out += paint(style, Paint::warn, wrap("Incomplete: " + text, width));
  return out;
}

/// A part that the short answer leaves out, and what it calls it.
struct Section {
  std::string_view name;
  std::string text;
  bool omitted = false;  // by a brief analysis, though there is something to say
};

std::vector<Section> further_sections(const Analysis& analysis, const TextStyle& style,
                                      std::size_t rows, const OmittedParts& omitted = {}) {
  return {{"time breakdown", waterfall_section(analysis, style)},
          {"levels over time", over_time_section(analysis, style)},
          {"devices", devices_section(analysis, style)},
          {"processes", tenants_section(analysis, style), omitted.tenants},
          {"idle causes", idle_section(analysis, style, rows)},
          {"further recommendations",
           findings_section(analysis, style, kFirstFindings, rows, Gains::with_others)},
          {"runtime", runtime_section(analysis, style, rows), omitted.runtime},
          {"layers", layers_section(analysis, style, rows)},
          {"kernels", kernels_section(analysis, style, rows), omitted.kernels},
          {"readings", readings_section(analysis, style)},
          {"energy", energy_section(analysis.energy, style, std::min<std::size_t>(rows, 8))}};
}

std::string more_line(const Analysis& analysis, const TextStyle& style,
                      const OmittedParts& omitted) {
  std::string text = "More with --full: ";
  for (const auto& section : further_sections(analysis, style, analysis.findings.size(), omitted))
    if (!section.text.empty() || section.omitted) text += fmt::format("{}, ", section.name);
  if (!collect_section(analysis, style).empty()) text += "how to collect missing counters, ";
  return paint(
      style, Paint::dim,
      wrap(text + "data quality. As a page: -o page.html.", static_cast<std::size_t>(style.width)));
}

}  // namespace

std::string full_text(const Analysis& analysis, const TextStyle& style, std::size_t rows) {
  std::string out = opening(analysis, style) + serving_section(analysis, style);
  if (!analysis.devices.empty()) {
    out += findings_section(analysis, style, 0, std::min(rows, kFirstFindings), Gains::with_others);
    out += caveats_section(analysis, style);
    out += ladder_section(analysis, style);
    for (const auto& section : further_sections(analysis, style, rows)) out += section.text;
  } else {
    out += runtime_section(analysis, style, rows);
  }
  return out + matching_section(analysis, style) + collect_section(analysis, style) +
         quality_section(analysis, style);
}

std::string short_text(const Analysis& analysis, const TextStyle& style,
                       const OmittedParts& omitted) {
  if (analysis.devices.empty()) return full_text(analysis, style);
  Analysis shown = analysis;
  for (auto& finding : shown.findings) {
    finding.evidence.clear();
    if (stands_apart(finding, style)) finding.command.clear();
  }
  for (auto& level : shown.levels)
    level.why_missing = level.why_missing.substr(0, level.why_missing.find("; collect with"));
  return opening(shown, style) + serving_section(shown, style) +
         findings_section(shown, style, 0, kFirstFindings, Gains::predicted) +
         caveats_section(shown, style) + ladder_section(shown, style) + "\n" +
         more_line(analysis, style, omitted);
}

}  // namespace gf
