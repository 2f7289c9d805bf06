// What a column of a log measures: its name and printed unit to a metric of the catalogue in base
// units.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gf::telemetry {

struct Quantity {
  std::string metric;  // id of the catalogue, or the column's own name
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

/// Whether DCGM printed one of the numbers that stand for "no value" there.
bool is_dcgm_blank(double value);

/// "12.5 W", "345 MHz", "80 %", "0x0000000000000004"; empty for [N/A], [Not Supported] and other
/// texts.
std::optional<double> parse_reading(std::string_view cell);

}  // namespace gf::telemetry
