// A calibration as text.
#pragma once

#include "analyze/energy/calibrate.h"

namespace gf::cli {

void print_calibration(const CalibrationFile& file);
/// Coefficients of two calibrations side by side.
void print_against(const EnergyModel& model, const EnergyModel& other);

}  // namespace gf::cli
