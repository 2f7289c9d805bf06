// The measuring half of a calibration: points of a GPU into a file.
#pragma once

#include <string>
#include <vector>

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

}  // namespace gf::cli
