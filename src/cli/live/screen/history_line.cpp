#include "cli/live/screen/history_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gf::cli {

namespace {

constexpr int kBeforeColumns = 45;

std::string number(double value) {
  if (std::isnan(value)) return "-";
  if (value < 9.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

const char* column(double part, bool utf8) {
  constexpr std::array<const char*, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<const char*, 8> letters{"_", ".", ":", "-", "=", "+", "*", "#"};
  const auto step = static_cast<std::size_t>(std::clamp(part * 8, 0.0, 7.0));
  if (utf8) return blocks[step];
  return letters[step];
}

}  // namespace

std::string history_line(const std::deque<double>& readings, const HistoryLabel& label,
                         const TextStyle& style) {
  double lowest = NAN;
  double highest = NAN;
  for (const double value : readings) {
    lowest = std::fmin(lowest, value);  // which passes NaN over
    highest = std::fmax(highest, value);
  }
  if (std::isnan(highest)) return {};
  double full = label.full;
  if (full <= 0) full = std::max(highest, 1e-9);
  std::string out =
      fmt::format("  {:<13}{:>8}{:>8}{:>8} {:<5}", label.name, number(readings.back()),
                  number(lowest), number(highest), label.unit);
  const auto room = static_cast<std::size_t>(std::max(style.width - kBeforeColumns, 1));
  const std::size_t first = readings.size() - std::min(readings.size(), room);
  out.append(room - (readings.size() - first), ' ');
  for (std::size_t i = first; i < readings.size(); ++i) {
    if (std::isnan(readings[i])) {
      out += ' ';
    } else {
      out += column(readings[i] / full, style.utf8);
    }
  }
  return out + "\n";
}

}  // namespace gf::cli
