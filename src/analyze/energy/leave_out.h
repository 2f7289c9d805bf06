// Judges the form of a model by its own points: each microbenchmark predicted by a fit that has not
// seen it.
#pragma once

#include <string>
#include <vector>

#include "analyze/energy/model.h"

namespace gf {

struct LeftOutBench {
  std::string bench;
  double relative =
      0;  // mean of (predicted - measured) / measured, of the energy above static power
  int points = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("bench", &LeftOutBench::bench, "microbenchmark");
    visit("relative", &LeftOutBench::relative,
          "mean of (predicted - measured) / measured, above static power");
    visit("points", &LeftOutBench::points, "its points");
  }
};

/// Only microbenchmarks whose every feature another one has too, at a tenth of the rate at least:
/// no fit knows what it has never seen.
std::vector<LeftOutBench> leave_one_out(const std::vector<EnergyPoint>& points);

}  // namespace gf
