// Matching and data quality: what the answer stands on.
#include <fmt/format.h>

#include "report/summary.h"
#include "report/text/bar.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

std::string matching_section(const Analysis& a, const TextStyle& style) {
  const auto& m = a.match;
  if (!a.counters_source && m.report_kernels == 0) return {};
  std::string text = fmt::format("{} of {} matched", format_count(m.matched),
                                 plural(m.trace_kernels, "trace kernel"));
  if (m.ambiguous) text += fmt::format(", {} ambiguous", format_count(m.ambiguous));
  if (m.trace_only) text += fmt::format(", {} only in the trace", format_count(m.trace_only));
  if (m.report_only) text += fmt::format(", {} only in the report", format_count(m.report_only));
  text += fmt::format(" ({} in the report", format_count(m.report_kernels));
  if (m.copies_of_report > 1) text += fmt::format(", laid over {} steps", m.copies_of_report);
  text += ").";
  if (m.confidence) text += fmt::format(" Mean score {:.3f}.", *m.confidence);
  if (!m.note.empty()) text += " " + m.note;
  return section_title(style, "Counters matched to the trace", name_of(m.verdict)) +
         wrap(text, static_cast<std::size_t>(style.width), 2);
}

std::string collect_section(const Analysis& a, const TextStyle& style) {
  for (const auto& f : a.findings)
    if (!f.command.empty()) return {};  // a finding tells it
  for (const auto& level : a.levels) {
    const auto command = level.why_missing.find("ncu --");
    if (!level.value && command != std::string::npos)
      return section_title(style, "How to collect what is missing") +
             wrap_command(std::string_view(level.why_missing).substr(command),
                          static_cast<std::size_t>(style.width));
  }
  return {};
}

std::string quality_section(const Analysis& a, const TextStyle& style) {
  std::string out =
      section_title(style, "Data quality",
                    plural(a.source.events, "event") +
                        (a.source.bytes > 0 ? ", " + format_bytes(a.source.bytes) : std::string()));
  if (a.quality.empty()) return out + "  nothing damaged, nothing doubtful\n";
  for (const auto& q : a.quality) {
    const std::string head = fmt::format("{} x {}", format_count(q.count), q.code);
    out += "  " + paint(style, Paint::warn, head) + "\n" +
           wrap(q.detail, static_cast<std::size_t>(style.width), 4);
  }
  return out;
}

}  // namespace gf
