#include "report/text/analysis.h"

#include <fmt/format.h>

#include "report/text/format.h"

namespace gf {

std::string analysis_text(const Analysis& a, const TextStyle&, std::size_t) {
  std::string out = fmt::format("{}: {}, {} events\n", shorten_middle(a.source.path, 50), a.source.format, format_count(a.source.events));
  for (const auto& d : a.devices)
    out += fmt::format("device {}: busy {} of {} ({})\n", d.id, format_time(d.busy_ns), format_time(d.span_ns),
                       format_share(d.span_ns > 0 ? Share(static_cast<double>(d.busy_ns) / static_cast<double>(d.span_ns)) : Share()));
  for (const auto& l : a.levels) out += fmt::format("{:<16} {}\n", l.id, format_level(l));
  return out;
}

}  // namespace gf
