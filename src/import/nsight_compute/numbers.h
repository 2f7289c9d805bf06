// Numbers as Nsight Compute prints them: thousands separators, 2 or 6 decimals, sometimes in a
// European locale.
#pragma once

#include <optional>
#include <string_view>

namespace gf::ncu {

/// How a file writes its numbers. A file is written in one locale, so that all its cells decide
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

}  // namespace gf::ncu
