// Files that ship with the program for one GPU product: energy models, measured ceilings.
#pragma once

#include <string>

#include "model/capture.h"

namespace gf::cli {

/// Name of the capture's first named GPU; empty when none has a name.
std::string product_of(const Capture& capture);

/// Path of share/FOLDER/NAME beside a build folder, or of share/gpufathom/FOLDER/NAME where the
/// program is installed; empty when there is neither.
std::string shipped_file(const std::string& folder, const std::string& name);

}  // namespace gf::cli
