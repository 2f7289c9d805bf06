// The runtime phases as numbers: analyze/names/phases.def declares them, docs/runtime.md explains
// them.
#pragma once

#include <cstddef>

#include "analyze/names.h"

namespace gf {

inline constexpr std::size_t kRuntimePhases = EnumNames<RuntimePhase>::names.size();

constexpr std::size_t index_of(RuntimePhase phase) { return static_cast<std::size_t>(phase); }

}  // namespace gf
