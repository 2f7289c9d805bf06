#include "report/sweep/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace gf {

namespace {

constexpr int kWidth = 720, kHeight = 300, kLeft = 64, kRight = 16, kTop = 34, kBottom = 46;
constexpr int kLegendRow = 18, kLegendColumns = 2;
// Told apart by people who see fewer colours, on light and dark ground.
constexpr std::string_view kPalette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                         "#56b4e9", "#7f7f7f", "#8c564b", "#9467bd", "#bcbd22"};

std::string_view colour_of(std::size_t index) { return kPalette[index % std::size(kPalette)]; }

std::string begin_svg(const Chart& chart, int height) {
  return fmt::format(
      "<svg id=\"{}\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}\" font-family=\"system-ui, sans-serif\" font-size=\"12\" "
      "fill=\"#777\">\n<text x=\"{}\" y=\"18\" font-size=\"14\" font-weight=\"600\">{}</text>\n",
      xml_escaped(chart.id), kWidth, height, xml_escaped(chart.title), kLeft,
      xml_escaped(chart.title));
}

/// Values on one axis and where they lie in pixels.
struct Scale {
  double low = 0, high = 1;
  bool logarithmic = false;
  double from = 0, to = 1;
  double operator()(double value) const {
    double share = 0;
    if (logarithmic)
      share = (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
    else
      share = (value - low) / (high - low);
    return from + share * (to - from);
  }
};

std::string short_number(double value) {
  if (value >= 1e9) return fmt::format("{:.3g} G", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.3g} M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:.3g} k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

std::string tick_text(double value, bool percent) {
  if (percent) return fmt::format("{:.0f} %", value * 100);
  return short_number(value);
}

std::string fine_text(double value, bool percent) {
  if (percent) return fmt::format("{:.1f} %", value * 100);
  return short_number(value);
}

/// Round values from low to high: steps of 1, 2 or 5, or of a power of ten.
std::vector<double> ticks(const Scale& scale) {
  std::vector<double> values;
  if (scale.logarithmic) {
    const double decades = std::log10(scale.high / scale.low);
    double factor = 2;
    if (decades > 2.5) factor = 10;
    double value = std::pow(factor, std::ceil(std::log(scale.low) / std::log(factor) - 1e-9));
    for (; value <= scale.high * (1 + 1e-9); value *= factor) values.push_back(value);
    return values;
  }
  const double rough = (scale.high - scale.low) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power * 10;
  for (const double factor : {5.0, 2.0, 1.0})
    if (rough <= factor * power) step = factor * power;
  for (double value = scale.low; value <= scale.high * (1 + 1e-9); value += step)
    values.push_back(value);
  return values;
}

std::string axes_of(const Chart& chart, const Scale& x, const Scale& y) {
  std::string out;
  for (const double value : ticks(y))
    out += fmt::format(
        "<path d=\"M{} {:.1f}H{}\" stroke=\"#8884\"/><text x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>\n",
        kLeft, y(value), kWidth - kRight, kLeft - 6, y(value) + 4,
        tick_text(value, chart.percent_y));
  for (const double value : ticks(x))
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x(value),
                       kHeight - kBottom + 16, tick_text(value, chart.percent_x));
  out += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n<text x=\"{}\" y=\"18\" "
      "text-anchor=\"end\">{}</text>\n",
      (kLeft + kWidth - kRight) / 2, kHeight - 12, xml_escaped(chart.x_title), kWidth - kRight,
      xml_escaped(chart.y_title));
  return out;
}

std::string line_of(const Chart& chart, const ChartLine& line, const Scale& x, const Scale& y) {
  std::string path, marks;
  const auto colour = colour_of(line.colour);
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    const auto [at_x, at_y] = line.points[i];
    path += fmt::format("{}{:.1f} {:.1f}", i ? "L" : "M", x(at_x), y(at_y));
    if (chart.dots)
      marks += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}: {}, "
          "{}</title></circle>\n",
          x(at_x), y(at_y), colour, xml_escaped(line.name), tick_text(at_x, chart.percent_x),
          fine_text(at_y, chart.percent_y));
    if (i == line.marked)
      marks += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"7\" fill=\"none\" stroke=\"{}\" "
          "stroke-width=\"1.5\"/>\n",
          x(at_x), y(at_y), colour);
  }
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"/>\n", path,
                     colour) +
         marks;
}

std::string legend_of(const std::vector<ChartLine>& lines) {
  std::string out;
  int place = 0;
  for (const auto& line : lines) {
    if (line.points.empty()) continue;
    const int x = kLeft + (place % kLegendColumns) * (kWidth - kLeft - kRight) / kLegendColumns;
    const int y = kHeight + (place / kLegendColumns) * kLegendRow + 12;
    out += fmt::format(
        "<path d=\"M{} {}h18\" stroke=\"{}\" stroke-width=\"3\"/><text x=\"{}\" "
        "y=\"{}\">{}</text>\n",
        x, y - 4, colour_of(line.colour), x + 24, y, xml_escaped(line.name));
    ++place;
  }
  return out;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '&')
      out += "&amp;";
    else if (letter == '<')
      out += "&lt;";
    else if (letter == '>')
      out += "&gt;";
    else if (letter == '"')
      out += "&quot;";
    else
      out += letter;
  }
  return out;
}

std::string line_chart(const Chart& chart, const std::vector<ChartLine>& lines) {
  Scale x{std::numeric_limits<double>::max(), 0, chart.logarithmic_x, kLeft, kWidth - kRight};
  Scale y{0, chart.y_high, false, kHeight - kBottom, kTop};
  int shown = 0;
  for (const auto& line : lines) {
    if (!line.points.empty()) ++shown;
    for (const auto& [at_x, at_y] : line.points) {
      x.low = std::min(x.low, at_x);
      x.high = std::max(x.high, at_x);
      if (chart.y_high <= 0) y.high = std::max(y.high, at_y * 1.05);
    }
  }
  if (shown == 0) return {};
  if (!chart.logarithmic_x) x.low = 0;
  if (x.high <= x.low) x.high = x.low + 1;
  if (y.high <= 0) y.high = 1;
  const int rows = (shown + kLegendColumns - 1) / kLegendColumns;
  std::string out = begin_svg(chart, kHeight + rows * kLegendRow + 4) + axes_of(chart, x, y);
  for (const auto& line : lines)
    if (!line.points.empty()) out += line_of(chart, line, x, y);
  return out + legend_of(lines) + "</svg>\n";
}

std::string bins_chart(const Chart& chart, const std::vector<ChartBins>& rows) {
  constexpr int kName = 250, kRow = 34;
  if (rows.empty()) return {};
  const int height = kTop + static_cast<int>(rows.size()) * kRow + 26;
  const Scale x{0, 1, false, kName, kWidth - kRight - 12};
  std::string out = begin_svg(chart, height);
  for (const double value : ticks(x))
    out += fmt::format(
        "<path d=\"M{:.1f} {}V{}\" stroke=\"#8884\"/><text x=\"{:.1f}\" y=\"{}\" "
        "text-anchor=\"middle\">{:.0f} %</text>\n",
        x(value), kTop, height - 22, x(value), height - 8, value * 100);
  int floor = kTop;
  for (const auto& row : rows) {
    floor += kRow;
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kName - 8,
                       floor - 8, xml_escaped(row.name));
    double highest = 0;
    for (const double share : row.shares) highest = std::max(highest, share);
    const auto bins = static_cast<double>(row.shares.size());
    for (std::size_t bin = 0; bin < row.shares.size(); ++bin) {
      if (row.shares[bin] <= 0) continue;
      const double left = row.low + (row.high - row.low) * static_cast<double>(bin) / bins;
      const double wide = std::max(2.0, (row.high - row.low) / bins * (x.to - x.from) - 1);
      const double tall = std::max(1.0, row.shares[bin] / highest * (kRow - 8));
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
          "fill=\"{}\"><title>{:.1f} % of kernel time from {:.1f} %</title></rect>\n",
          x(left), floor - tall, wide, tall, colour_of(row.colour), row.shares[bin] * 100,
          left * 100);
    }
    out += fmt::format("<path d=\"M{:.1f} {}v-{}\" stroke=\"#777\" stroke-width=\"2\"/>\n",
                       x(row.median), floor + 2, kRow - 4);
  }
  return out + "</svg>\n";
}

}  // namespace gf
