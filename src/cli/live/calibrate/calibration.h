// The measuring half of a calibration: points of a GPU into a file.
// A calibration as text.
#pragma once

#include <string>
#include <vector>

#include "analyze/energy/calibrate.h"
#include "core/error.h"

namespace gf::cli {

struct MeasureOptions {
  std::string device = "0";
  unsigned clock_mhz = 0;  // held, 0: left alone
  std::vector<std::string> only, skip;
  std::string points;
  bool launch_once = false;
  unsigned seed = 1;
  double seconds = 1.2;
  int repeats = 3;
};

/// Measures on a thread of its own: a driver that hangs leaves this one free to say so, and to hear
/// signals.
Status measure_points(const MeasureOptions& options);

void print_calibration(const CalibrationFile& file);
/// Coefficients of two calibrations side by side.
void print_against(const EnergyModel& model, const EnergyModel& other);

}  // namespace gf::cli
