#include "report/text/what_if.h"

#include <fmt/format.h>

#include <cctype>

#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

std::string percent(Nanos part, Nanos whole) {
  if (whole <= 0) return format_share(std::nullopt);
  return format_share(static_cast<double>(part) / static_cast<double>(whole));
}

std::string span_of(const WhatIf& answer) {
  if (answer.steps == 0) return "the capture";
  return fmt::format("a step ({} captured)", answer.steps);
}

std::string own_line(const WhatIf& answer) {
  if (answer.own_low_ns == answer.own_high_ns)
    return fmt::format("{} takes {}.", span_of(answer), format_time(answer.captured_ns));
  return fmt::format("{} takes {}, without what recording takes about {} ({} to {}).",
                     span_of(answer), format_time(answer.captured_ns), format_time(answer.own_ns),
                     format_time(answer.own_low_ns), format_time(answer.own_high_ns));
}

/// The bounds as shares of the program's own time.
std::string range_of(const WhatIfRow& row, const WhatIf& answer) {
  if (row.gain_low_ns == row.gain_high_ns) return {};
  const double own = static_cast<double>(answer.own_ns) / 100;
  return fmt::format("{:.0f} .. {:.0f} %", static_cast<double>(row.gain_low_ns) / own,
                     static_cast<double>(row.gain_high_ns) / own);
}

}  // namespace

std::string what_if_text(const WhatIf& answer, const TextStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string line = own_line(answer);
  line.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(line.front())));
  std::string text = paint(style, Paint::strong, wrap(line, width));
  constexpr double kWorthSaying = 0.02;
  if (answer.unexplained.value_or(0) >= kWorthSaying)
    text += paint(style, Paint::warn,
                  wrap(fmt::format("For {} of the time nothing in the capture explains why the "
                                   "device waited: gains that concern it are not seen.",
                                   format_share(answer.unexplained)),
                       width));
  TextTable table({{"change", Align::left, true},
                   {"", Align::left},
                   {"step", Align::right},
                   {"gain", Align::right},
                   {"of step", Align::right},
                   {"from .. to", Align::right, false, 1}});
  std::string without;
  for (const auto& row : answer.changes) {
    if (row.gain_ns == 0 && row.gain_high_ns == 0) {
      without += fmt::format("{}{}", without.empty() ? "No gain: " : ", ", row.change);
      continue;
    }
    table.add({row.change, row.meaning, format_time(row.step_ns), format_time(row.gain_ns),
               Cell(percent(row.gain_ns, answer.own_ns), Paint::strong), range_of(row, answer)});
  }
  text += section_title(style, "With one thing changed", "gain: of a step") + table.render(style);
  if (!without.empty()) text += wrap(without + ".", width, 2);
  return text;
}

}  // namespace gf
