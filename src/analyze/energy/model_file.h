// The model file that `gpufathom calibrate -o` writes, read back.
#pragma once

#include <string>
#include <string_view>

#include "analyze/energy/model.h"

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

}  // namespace gf
