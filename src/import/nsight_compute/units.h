// Units of Nsight Compute. Every value of a capture is in the base unit of its metric; reports
// print scaled ones
// ("us", "Mbyte", "Kbyte/block", "Ghz") with decimal prefixes, and .ncu-rep files hold base values
// without any unit.
#pragma once

#include <string>
#include <string_view>

namespace gf::ncu {

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
