// Charts as SVG text: lines and points over two axes, and histograms.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gf {

struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;
  std::size_t marked = static_cast<std::size_t>(-1);  // a point with a ring around it
  std::size_t colour = 0;                             // place in the palette
};

struct Chart {
  std::string id, title, x_title, y_title;
  bool logarithmic_x = false;
  bool percent_x = false, percent_y = false;  // values are shares
  double y_high = 0;                          // 0: from the points
  bool dots = true;
};

/// One chart with a legend below it; empty when no line has a point.
std::string line_chart(const Chart& chart, const std::vector<ChartLine>& lines);

/// A row of 20 bins for each name: how often a share from 0 to 1 occurs.
struct ChartBins {
  std::string name;
  double low = 0, high = 0;    // what the bins span
  std::vector<double> shares;  // of the whole
  double median = 0;
  std::size_t colour = 0;
};
std::string bins_chart(const Chart& chart, const std::vector<ChartBins>& rows);

/// Text inside XML.
std::string xml_escaped(std::string_view text);

}  // namespace gf
