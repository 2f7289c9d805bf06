// The raw points of a calibration on file: one JSON object a line, the board they were measured on first.
#pragma once

#include <string>
#include <vector>

#include "analyze/energy/calibration.h"
#include "core/describe.h"
#include "core/error.h"

namespace gf {

/// The board, as the first line of a points file says it. Files without that line are read; their board is unknown.
struct CalibratedBoard {
  std::string gpu, uuid, driver, date;
  static constexpr auto fields() {
    using B = CalibratedBoard;
    return std::tuple{field("gpu", &B::gpu, "product"), field("uuid", &B::uuid, "board"), field("driver", &B::driver, "driver"), field("date", &B::date, "day of the first point, UTC")};
  }
};

struct EnergyPointsFile {
  CalibratedBoard board;
  std::vector<RawEnergyPoint> points;
};

/// A file that does not exist is an empty calibration. Errors: a line that is no JSON object, with its offset.
Result<EnergyPointsFile> read_energy_points(const std::string& path);

}  // namespace gf
