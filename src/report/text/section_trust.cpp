// Matching and data quality: what the answer stands on.
#include <fmt/format.h>

#include "report/summary.h"
#include "report/text/bar.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

std::string matching_section(const Analysis& analysis, const TextStyle& style) {
  const auto& match = analysis.match;
  if (!analysis.counters_source && match.report_kernels == 0) return {};
  std::string text = fmt::format("{} of {} matched", format_count(match.matched),
                                 plural(match.trace_kernels, "trace kernel"));
  if (match.ambiguous) text += fmt::format(", {} ambiguous", format_count(match.ambiguous));
  if (match.trace_only)
    text += fmt::format(", {} only in the trace", format_count(match.trace_only));
  if (match.report_only)
    text += fmt::format(", {} only in the report", format_count(match.report_only));
  text += fmt::format(" ({} in the report", format_count(match.report_kernels));
  if (match.copies_of_report > 1)
    text += fmt::format(", laid over {} steps", match.copies_of_report);
  text += ").";
  if (match.confidence) text += fmt::format(" Mean score {:.3f}.", *match.confidence);
  if (!match.note.empty()) text += " " + match.note;
  return section_title(style, "Counters matched to the trace", name_of(match.verdict)) +
         wrap(text, static_cast<std::size_t>(style.width), 2);
}

std::string collect_section(const Analysis& analysis, const TextStyle& style) {
  for (const auto& finding : analysis.findings)
    if (!finding.command.empty()) return {};  // a finding tells it
  for (const auto& level : analysis.levels) {
    const auto command = level.why_missing.find("ncu --");
    if (!level.value && command != std::string::npos)
      return section_title(style, "How to collect what is missing") +
             wrap_command(std::string_view(level.why_missing).substr(command),
                          static_cast<std::size_t>(style.width));
  }
  return {};
}

std::string quality_section(const Analysis& analysis, const TextStyle& style) {
  std::string out = section_title(
      style, "Data quality",
      plural(analysis.source.events, "event") +
          (analysis.source.bytes > 0 ? ", " + format_bytes(analysis.source.bytes) : std::string()));
  if (analysis.quality.empty()) return out + "  nothing damaged, nothing doubtful\n";
  for (const auto& quality : analysis.quality) {
    const std::string head = fmt::format("{} x {}", format_count(quality.count), quality.code);
    out += "  " + paint(style, Paint::warn, head) + "\n" +
           wrap(quality.detail, static_cast<std::size_t>(style.width), 4);
  }
  return out;
}

}  // namespace gf
