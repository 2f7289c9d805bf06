// Files of one GPU product that ship with the program: energy models, measured ceilings.
#pragma once

#include <optional>
#include <string>

#include "analyze/energy/model_file.h"
#include "analyze/work/ceilings.h"
#include "core/error.h"
#include "model/capture.h"

namespace gf {

/// The model of `path`, or the one shipped for the capture's first named GPU when `path` is empty:
/// empty when there is none. Errors: the file cannot be read or is no model; it was measured on
/// another product than the capture's.
Result<std::optional<EnergyModelFile>> find_energy_model(const std::string& path,
                                                         const Capture& capture);

/// The same for ceilings.
Result<std::optional<CeilingsFile>> find_ceilings(const std::string& path, const Capture& capture);

}  // namespace gf
