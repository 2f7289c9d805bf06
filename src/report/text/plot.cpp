#include "report/text/plot.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/text/format.h"

namespace gf {

namespace {

double place(const PlotAxis& axis, double value) {
  double low = axis.low, high = axis.high;
  if (axis.logarithmic) {
    low = std::log(low);
    high = std::log(high);
    value = std::log(std::max(value, axis.low));
  }
  return !(high > low) ? 0 : std::clamp((value - low) / (high - low), 0.0, 1.0);
}

int cell(const PlotAxis& axis, double value, int cells) {
  return static_cast<int>(std::lround(place(axis, value) * (cells - 1)));
}

std::string padded_label(std::string text, int width) {
  const auto columns = static_cast<int>(columns_of(text));
  return std::string(static_cast<std::size_t>(std::max(0, width - columns)), ' ') + text;
}

}  // namespace

std::string plot(const TextStyle& style, const std::vector<PlotPoint>& points, const PlotAxis& x,
                 const PlotAxis& y, int height) {
  const auto margin = static_cast<int>(std::max(columns_of(y.low_text), columns_of(y.high_text)));
  const int width = std::clamp(style.width - margin - 6, 20, 70);
  std::vector<std::string> rows(static_cast<std::size_t>(height),
                                std::string(static_cast<std::size_t>(width), ' '));
  for (const auto& point : points) {
    const int row = height - 1 - cell(y, point.y, height);
    rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(cell(x, point.x, width))] =
        point.mark;
  }
  std::string_view side = "|", floor = "-", corner = "+";
  if (style.utf8) {
    side = "│";
    floor = "─";
    corner = "└";
  }
  std::string out = "  " + paint(style, Paint::dim, y.title) + "\n";
  for (int row = 0; row < height; ++row) {
    std::string label;
    if (row == 0) label = y.high_text;
    if (row == height - 1) label = y.low_text;
    std::string& marks = rows[static_cast<std::size_t>(row)];
    marks.erase(marks.find_last_not_of(' ') + 1);
    out += "  " + padded_label(label, margin) + " " + std::string(side) + marks + "\n";
  }
  out += std::string(static_cast<std::size_t>(margin + 3), ' ') + std::string(corner);
  for (int column = 0; column < width; ++column) out += floor;
  const auto ends = static_cast<int>(columns_of(x.low_text) + columns_of(x.title));
  out += "\n" + std::string(static_cast<std::size_t>(margin + 4), ' ') + x.low_text + " " +
         paint(style, Paint::dim, x.title) + padded_label(x.high_text, width - ends - 1) + "\n";
  return out;
}

std::string sparkline(const TextStyle& style, const std::vector<double>& shares) {
  static constexpr std::string_view kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double highest = 0;
  for (const double share : shares) highest = std::max(highest, share);
  std::string out;
  for (const double share : shares) {
    if (share <= 0 || highest <= 0) {
      out += style.utf8 ? " " : ".";
    } else if (style.utf8) {
      out += kBlocks[static_cast<std::size_t>(
          std::clamp(std::ceil(share / highest * 8) - 1, 0.0, 7.0))];
    } else {
      out += static_cast<char>('0' + std::clamp(static_cast<int>(share / highest * 9.99), 0, 9));
    }
  }
  return out;
}

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
