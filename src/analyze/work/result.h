// The result of the analysis of work; part of the JSON contract like analyze/result.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/result.h"
#include "analyze/work/names.h"

namespace gf {

#define GF_RESULTS "analyze/results/work.def"
#include "analyze/declare_results.inl"

}  // namespace gf
