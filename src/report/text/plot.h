// Points in a frame of characters.
// Bars of characters.
#pragma once

#include <string>
#include <vector>

#include "report/text/format.h"

namespace gf {

struct PlotPoint {
  double x = 0, y = 0;
  char mark = '*';
};

/// An axis from `low` to `high`, with what stands at its ends.
struct PlotAxis {
  std::string title;
  double low = 0, high = 1;
  std::string low_text, high_text;
  bool logarithmic = false;
};

/// A frame of at most style.width columns and `height` rows. Of points on one place the last one
/// shows; points outside stand on the border.
std::string plot(const TextStyle& style, const std::vector<PlotPoint>& points, const PlotAxis& x,
                 const PlotAxis& y, int height);

/// Shares in equal bins as one row of blocks, the highest bin as high as a row; digits without
/// block characters.
std::string sparkline(const TextStyle& style, const std::vector<double>& shares);

/// The parts of a bar on a track of 0..1: empty up to `from`, filled up to `to`, perhaps filled up
/// to `unsure`.
struct Span01 {
  double from = 0, to = 0, unsure = 0;
};

/// A bar of exactly `width` columns. A part that is not empty shows at least a sliver.
std::string bar(const TextStyle& style, Span01 span, int width, Paint how = Paint::used);

}  // namespace gf
