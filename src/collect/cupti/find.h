// Where CUPTI may be: several copies exist on a usual machine (toolkit, PyTorch's wheel, Nsight
// Compute).
#pragma once

#include <string>
#include <vector>

#include "collect/library.h"

namespace gf {

/// Opens libcupti (13, then 12) and the two libraries it needs beside it. Looked at in this order:
/// GPUFATHOM_LIBRARY_PATH, a copy that the process already holds, the dynamic linker's places,
/// Python environments (VIRTUAL_ENV, CONDA_PREFIX, the python3 of PATH), toolkits (CUDA_HOME,
/// CUDA_PATH, /usr/local/cuda*).
Result<Library> open_cupti();

/// The folders of Python environments and toolkits that hold a libcupti here, in that order.
std::vector<std::string> cupti_directories();

}  // namespace gf
