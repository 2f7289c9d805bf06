// What the analysis of the framework runtime answers; part of the JSON contract like
// analyze/result.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/names.h"
#include "core/describe.h"
#include "core/statistics.h"
#include "core/time.h"

namespace gf {

using Share = std::optional<double>;

#define GF_RESULTS "analyze/results/runtime.def"
#include "analyze/declare_results.inl"

}  // namespace gf
