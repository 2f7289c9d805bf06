// Idle causes and findings: why, and what to change.
#include <fmt/format.h>

#include "report/labels.h"
#include "report/summary.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

std::string idle_section(const Analysis& analysis, const TextStyle& style, std::size_t rows) {
  const auto causes = idle_of_all(analysis);
  Nanos idle = 0;
  for (const auto& device : analysis.devices) idle += device.idle_ns;
  // Samples know no cause; a finding says so.
  if (causes.empty() || idle == 0 || causes.front().cause == IdleReason::not_recorded ||
      causes.front().cause == IdleReason::no_samples)
    return {};
  TextTable table({{"cause"},
                   {"time", Align::right},
                   {"share", Align::right},
                   {"gaps", Align::right},
                   {"most of it in", Align::left, true},
                   {"", Align::right}});
  for (const auto& cause : causes) {
    if (cause.ns == 0 || rows-- == 0) break;
    const NamedTime* first = nullptr;
    if (!cause.operators.empty()) first = &cause.operators.front();
    table.add({std::string(label_of(cause.cause).text), format_time(cause.ns),
               format_share(share_of(cause.ns, device_time(analysis))), format_count(cause.gaps),
               Cell(first ? first->name : "", Paint::dim),
               Cell(first ? format_share(share_of(first->ns, cause.ns)) : "", Paint::dim)});
  }
  return section_title(style, "GPU idle time by cause", format_time(idle) + " idle") +
         table.render(style);
}

std::string findings_section(const Analysis& analysis, const TextStyle& style, std::size_t rows) {
  if (analysis.findings.empty()) return {};
  std::string out = section_title(style, "Recommendations");
  const auto width = static_cast<std::size_t>(style.width);
  int number = 0;
  for (const auto& finding : analysis.findings) {
    if (rows-- == 0) break;
    std::string text = finding.text;
    if (finding.gain_ns)
      text += fmt::format(" [up to {}, {}]", format_time(*finding.gain_ns),
                          format_share(share_of(*finding.gain_ns, device_time(analysis))));
    std::string paragraph = wrap(text, width, 5);
    const std::string mark = fmt::format("{:>3}. ", ++number);
    out += mark + paragraph.substr(5);
    if (!finding.evidence.empty())
      out += paint(style, Paint::dim, wrap(finding.evidence, width, 5));
    if (!finding.command.empty())
      out += paint(style, Paint::dim, wrap_command(finding.command, width));
  }
  return out;
}

}  // namespace gf
