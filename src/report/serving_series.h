// The series of programs that serve (`monitor --steps`), for Prometheus and OpenTelemetry alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/live.h"

namespace gf {

struct ServingPoint {
  const LiveServing* program;
  std::string kind;      // of the steps; empty: of all
  std::string quantile;  // such as 0.9; empty: the series has none
  double value;
};

struct ServingSeries {
  std::string_view name;  // in base units, as tokens_per_second
  std::string_view unit;  // as UCUM spells it
  std::string_view help;
  std::vector<ServingPoint> points;
};

/// Series without a point are left out.
std::vector<ServingSeries> serving_series(const LiveTable& table);

}  // namespace gf
