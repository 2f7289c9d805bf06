// What counter samples alone say of a run: how levels and readings went over time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/names.h"
#include "core/describe.h"
#include "core/time.h"

namespace gf {

#define GF_RESULTS "analyze/results/sampled.def"
#include "analyze/declare_results.inl"

}  // namespace gf
