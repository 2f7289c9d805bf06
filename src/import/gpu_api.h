// Kinds of calls of GPU runtimes and drivers, by name.
#pragma once

#include <string_view>

#include "model/enums.h"

namespace gf {

/// True for names of the GPU runtimes' own functions: cudaXxx, cuXxx, hipXxx.
bool is_gpu_api(std::string_view name);
/// Kind of such a function; `other` for everything that neither launches, copies, sets, waits nor
/// allocates.
ApiKind gpu_api_kind(std::string_view name);

}  // namespace gf
