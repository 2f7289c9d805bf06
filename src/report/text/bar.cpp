#include "report/text/bar.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace gf {

namespace {

constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

/// Position in eighths of a column (whole columns without block characters).
int place(double share, int width, bool fine) {
  const double columns = std::clamp(share, 0.0, 1.0) * width;
  if (fine) return static_cast<int>(std::lround(columns * 8));
  return static_cast<int>(std::lround(columns)) * 8;
}

std::string repeat(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace

std::string bar(const TextStyle& style, Span01 span, int width, Paint how) {
  // The length is true to an eighth of a column; where a bar starts is to a column, since blocks
  // grow from the left only.
  int least = 8;
  const char *used_block = "#", *unsure_block = "?";
  if (style.utf8) {
    least = 1;
    used_block = "█";
    unsure_block = "░";
  }
  int length = place(span.to - span.from, width, style.utf8);
  if (span.to > span.from) length = std::max(length, least);
  const int whole = length / 8, rest = length % 8, columns = (length + 7) / 8;
  const int first = std::min(place(span.from, width, false) / 8, width - columns);
  std::string filled = repeat(used_block, whole) + std::string(kEighths[rest]);
  int used = first + columns;
  int unsure = 0;
  if (span.unsure > span.to) unsure = std::max(0, place(span.unsure, width, false) / 8 - used);
  std::string out = std::string(static_cast<std::size_t>(first), ' ') + paint(style, how, filled);
  out += paint(style, Paint::unknown, repeat(unsure_block, unsure));
  return out + std::string(static_cast<std::size_t>(std::max(0, width - used - unsure)), ' ');
}

}  // namespace gf
