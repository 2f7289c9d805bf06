#include <fmt/format.h>

#include <cmath>

#include "report/text/format.h"
#include "report/text/reports.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

/// The mean step of the window, as every verb gives it, and what replay measures: from the end of
/// one step's GPU work to the end of the next one's.
std::string captured_line(const WhatIf& answer) {
  const auto captured = format_time(answer.captured_ns);
  if (answer.device < 0) return "The job takes " + captured;  // of several ranks
  const auto steps = static_cast<Nanos>(answer.window.steps.size());
  if (answer.steps == 0 || steps == 0) return "The capture takes " + captured;
  const auto mean = format_time(answer.window.duration_ns / steps);
  const auto of = fmt::format("{} ({}, {})", mean, plural(steps, "step"),
                              format_time(answer.window.duration_ns));
  if (answer.steps < 2) return "A step takes " + of;
  return fmt::format(
      "A step takes {}. From the end of one step's GPU work to the end of the next "
      "it is {}",
      of, captured);
}

std::string own_line(const WhatIf& answer) {
  if (answer.own_low_ns == answer.own_high_ns) return captured_line(answer) + ".";
  return fmt::format("{}, without profiler overhead about {} ({} to {}).", captured_line(answer),
                     format_time(answer.own_ns), format_time(answer.own_low_ns),
                     format_time(answer.own_high_ns));
}

std::string range_of(const WhatIfRow& row) {
  if (row.gain_low_ns == row.gain_high_ns) return {};
  return format_share_range(row.share_low, row.share_high);
}

/// The range of gains of nine of ten programs that made the change.
std::string others_of(const WhatIfRow& row) {
  if (!row.mended_high) return {};
  return format_share_range(row.mended_low, row.mended_high);
}

/// Less than what is shown as 0.1 %, by any cost of recording.
bool is_nothing(const WhatIfRow& row) {
  constexpr double kShown = 0.0005;
  return std::abs(row.share_low.value_or(0)) < kShown &&
         std::abs(row.share_high.value_or(0)) < kShown;
}

}  // namespace

std::string what_if_text(const WhatIf& answer, const TextStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string text = paint(style, Paint::strong, wrap(own_line(answer), width));
  constexpr double kWorthSaying = 0.02;
  if (answer.unexplained.value_or(0) >= kWorthSaying)
    text += paint(style, Paint::warn,
                  wrap(fmt::format("For {} of the time the capture does not explain why the device "
                                   "waited; gains from that time are not predicted.",
                                   format_share(answer.unexplained)),
                       width));
  TextTable table({{"change", Align::left},
                   {"", Align::left, true},
                   {"step", Align::right},
                   {"gain", Align::right, false, 1},
                   {"of step", Align::right},
                   {"range", Align::right},
                   {"others", Align::right}});
  std::string without;
  for (const auto& row : answer.changes) {
    if (is_nothing(row)) {
      without += fmt::format("{}{}", without.empty() ? "No gain: " : ", ", row.change);
      continue;
    }
    table.add({row.change, row.meaning, format_time(row.step_ns), format_time(row.gain_ns),
               Cell(format_share(row.share), Paint::strong), range_of(row), others_of(row)});
  }
  text +=
      section_title(style, "Each change alone",
                    answer.device < 0 ? "predicted gain of the job" : "predicted gain of a step") +
      table.render(style);
  if (!without.empty()) text += wrap(without + ".", width, 2);
  return text;
}

}  // namespace gf
