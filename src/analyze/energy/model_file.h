// The model file that `gpufathom calibrate -o` writes, read back.
// The raw points of a calibration on file: one JSON object a line, the board they were measured on
// first.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/energy/calibration.h"
#include "analyze/energy/model.h"
#include "core/describe.h"
#include "core/error.h"

namespace gf {

/// A model and the file that it came from.
struct EnergyModelFile {
  std::string path;
  EnergyModel model;
};

/// Reads the text of a model file; `path` is for messages. Errors: not JSON (with the byte), not a
/// model of this version, a number that the model cannot do without is missing or no number.
Result<EnergyModel> parse_energy_model(std::string_view text, const std::string& path);

/// The model of a file. Errors besides those above: it cannot be read.
Result<EnergyModelFile> read_energy_model(const std::string& path);

/// The file's name for a product: "NVIDIA H200" -> "NVIDIA-H200.energy.json".
std::string energy_model_name(std::string_view product);

/// The board, as the first line of a points file says it. Files without that line are read; their
/// board is unknown.
struct CalibratedBoard {
  std::string gpu, uuid, driver, date;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("gpu", &CalibratedBoard::gpu, "product");
    visit("uuid", &CalibratedBoard::uuid, "board");
    visit("driver", &CalibratedBoard::driver, "driver");
    visit("date", &CalibratedBoard::date, "day of the first point, UTC");
  }
};

/// Time of one dependent load in a region of so many bytes.
struct LatencyStep {
  double bytes = 0, ns = 0;
};

/// Power readings around a load that began at 0 and ended at `off_s`: every change of
/// it.
struct SensorAnswer {
  double off_s = 0, before_w = 0;
  std::vector<double> t_s, watts;
};

struct EnergyPointsFile {
  CalibratedBoard board;
  std::vector<LatencyStep> latencies;
  std::vector<SensorAnswer> sensor;
  std::vector<RawEnergyPoint> points;
};

/// Errors: a line that is no JSON object, with its offset.
Result<EnergyPointsFile> parse_energy_points(std::string content, const std::string& path);
/// A file that does not exist is an empty calibration. Errors: a line that is no JSON object, with
/// its offset.
Result<EnergyPointsFile> read_energy_points(const std::string& path);

}  // namespace gf
