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
  return fine ? static_cast<int>(std::lround(columns * 8)) : static_cast<int>(std::lround(columns)) * 8;
}

std::string repeat(std::string_view text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

}  // namespace

std::string bar(const TextStyle& style, Span01 span, int width, Paint how) {
  const bool any = span.to > span.from;
  const int first = std::min(place(span.from, width, false) / 8, any ? width - 1 : width);
  int end = place(span.to, width, style.utf8);
  if (any) end = std::max(end, first * 8 + (style.utf8 ? 1 : 8));
  end = std::max(end, first * 8);
  const int whole = end / 8 - first, rest = end % 8;
  std::string filled = repeat(style.utf8 ? "█" : "#", whole) + std::string(kEighths[rest]);
  int used = first + whole + (rest ? 1 : 0);
  int unsure = std::max(0, place(std::max(span.unsure, span.to), width, false) / 8 - used);
  std::string out = std::string(static_cast<std::size_t>(first), ' ') + paint(style, how, filled);
  out += paint(style, Paint::unknown, repeat(style.utf8 ? "░" : "?", unsure));
  return out + std::string(static_cast<std::size_t>(std::max(0, width - used - unsure)), ' ');
}

}  // namespace gf
