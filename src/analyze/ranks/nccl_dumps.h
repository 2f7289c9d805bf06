// Finds the collective that a job hangs in, and the late ranks, from the ranks' flight recorders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/describe.h"
#include "core/error.h"
#include "core/time.h"
#include "model/nccl_dump.h"

namespace gf {

#define GF_RESULTS "analyze/results/nccl_dumps.def"
#include "analyze/declare_results.inl"

/// Errors: two dumps of one rank.
Result<NcclDumps> analyze_dumps(std::vector<NcclDump> dumps);

}  // namespace gf
