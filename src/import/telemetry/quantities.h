// Quantity of a log's column: its name and printed unit to a metric of the catalog in base
// units.
// Text tables: the words of a line, and whether a file begins as one.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gf::telemetry {

struct Quantity {
  std::string metric;  // id of the catalog, or the column's own name
  double factor = 1;   // printed value times this = value in the metric's unit
};

/// "power.draw.instant [W]" and "power_instant_w" to power.module, "clocks.sm [MHz]" to clock.sm in
/// hertz, ... Columns that are not known, and rates ("pcie.tx [B/s]"), keep their own name, in the
/// base unit of the unit they name.
Quantity quantity_of_column(std::string_view header);

/// A column of `nvidia-smi dmon` by its heading and the unit below it ("pwr" in "W", "smutil" in
/// "GPM:%").
Quantity quantity_of_smi_dmon(std::string_view heading, std::string_view unit);

/// A field of `dcgmi dmon` by its column heading ("POWER", "SMACT").
Quantity quantity_of_dcgm(std::string_view heading);

/// True for what only a whole GPU has, such as power, and for what is not measured of its parts: of
/// a MIG instance DCGM tells the whole GPU's value, once for each instance, or 0.
bool is_of_whole_gpu(std::string_view metric);

/// True if DCGM printed one of the numbers that stand for "no value" there.
bool is_dcgm_blank(double value);

/// "12.5 W", "345 MHz", "80 %", "0x0000000000000004"; empty for [N/A], [Not Supported] and other
/// texts.
std::optional<double> parse_reading(std::string_view cell);

inline std::vector<std::string_view> words(std::string_view line,
                                           std::string_view between = " \t\r") {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < line.size();) {
    const auto begin = line.find_first_not_of(between, at);
    if (begin == line.npos) break;
    at = std::min(line.find_first_of(between, begin), line.size());
    out.push_back(line.substr(begin, at - begin));
  }
  return out;
}

/// apply(line, byte offset) for each line of a text.
template <class F>
void each_line(std::string_view text, F&& apply) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    apply(text.substr(at, end - at), at);
    at = end + 1;
  }
}

/// The score of a file whose first lines hold a heading; 0 without. `is_heading` gets one line at a
/// time.
template <class F>
int sniff_heading(std::string_view head, F&& is_heading) {
  for (std::size_t at = 0, line = 0; at < head.size() && line < 20; ++line) {
    const auto end = std::min(head.find('\n', at), head.size());
    if (is_heading(head.substr(at, end - at))) return 85;
    at = end + 1;
  }
  return 0;
}

}  // namespace gf::telemetry
