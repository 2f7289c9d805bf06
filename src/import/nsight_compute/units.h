// Numbers as Nsight Compute prints them: thousands separators, 2 or 6 decimals, sometimes in a
// European locale.
// Units of Nsight Compute. Every value of a capture is in the base unit of its metric; reports
// print scaled ones
// ("us", "Mbyte", "Kbyte/block", "Ghz") with decimal prefixes, and .ncu-rep files hold base values
// without any unit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gf::ncu {

/// The style of a file's numbers. A file is written in one locale, so that all its cells decide
/// together.
struct NumberStyle {
  char decimal = '.';
};

/// Collects evidence from cells ("6,092.48", "27.595.520", "65,77") and decides.
class NumberStyleVote {
 public:
  void add(std::string_view cell);
  NumberStyle style() const { return {european_ > english_ ? ',' : '.'}; }

 private:
  long english_ = 0, european_ = 0;
};

struct Number {
  double value = 0;
  double resolution = 0;  // half a unit of the last printed digit; 0 for a number printed without a
                          // fraction or with a zero one
};

/// Reads a cell times 10^`exponent`, rounded once. Empty when the cell is not a number (a text
/// metric, "n/a", an empty cell).
std::optional<Number> parse_number(std::string_view cell, NumberStyle style = {}, int exponent = 0);

struct Unit {
  std::string base;   // ns, byte, sector, cycle, %, byte/block, hz, ... or empty
  int exponent = 0;   // value in the printed unit * 10^exponent * factor = value in the base unit
  double factor = 1;  // other than 1 for binary prefixes only
};

/// Base unit and scale of a printed unit. Units that are not known are their own base.
Unit parse_unit(std::string_view printed);

/// The base unit of a metric by its name: what `ncu --print-units base` prints. Empty for metrics
/// without a unit and for names that are not known. The roll-up is part of the name
/// ("smsp__cycles_active.avg.pct_of_peak_sustained_elapsed" is "%").
std::string metric_unit(std::string_view metric);

}  // namespace gf::ncu
