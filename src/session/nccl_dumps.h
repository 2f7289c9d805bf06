// Finds the files given to `ranks` that are dumps of PyTorch's flight recorder.
#pragma once

#include <string>
#include <vector>

#include "analyze/ranks/nccl_dumps.h"
#include "import/nccl_dump.h"

namespace gf {

/// The dumps among files and folders; none where any other capture is among them.
std::vector<std::string> dump_files(const std::vector<std::string>& paths);

}  // namespace gf
