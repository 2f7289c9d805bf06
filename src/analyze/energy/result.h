// What the attribution of energy answers; part of the JSON contract like analyze/result.h. All
// `_nj` are whole nanojoules: the parts of a row sum to the row, and the rows of a list to their
// device, exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/names.h"
#include "core/describe.h"
#include "core/time.h"

namespace gf {

#define GF_RESULTS "analyze/results/energy.def"
#include "analyze/declare_results.inl"

}  // namespace gf
