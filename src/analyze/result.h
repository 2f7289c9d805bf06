// The result of an analysis: plain structs, filled by the analyses, read by the reports. Field
// names are the keys of the JSON contract (schema gpufathom.analysis/1): a key may be added, never
// renamed. Empty optionals and NaN are "no data". All `_ns` are integers; parts sum to their totals
// exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/names.h"
#include "analyze/work/names.h"
#include "core/describe.h"
#include "core/statistics.h"
#include "core/time.h"

namespace gf {

using Share = std::optional<double>;  // 0..1, empty = no data

#define GF_RESULTS "analyze/results/runtime.def"
#include "analyze/declare_results.inl"

// Energy: all `_nj` are whole nanojoules; the parts of a row sum to the row, and the rows of a list
// to their device, exactly.
#define GF_RESULTS "analyze/results/energy.def"
#include "analyze/declare_results.inl"

#define GF_RESULTS "analyze/results/sampled.def"
#include "analyze/declare_results.inl"
#define GF_RESULTS "analyze/results/capture.def"
#include "analyze/declare_results.inl"
#define GF_RESULTS "analyze/results/device.def"
#include "analyze/declare_results.inl"
#define GF_RESULTS "analyze/results/serving.def"
#include "analyze/declare_results.inl"
#define GF_RESULTS "analyze/results/kernels.def"
#include "analyze/declare_results.inl"
#define GF_RESULTS "analyze/results/tenants.def"
#include "analyze/declare_results.inl"
#define GF_RESULTS "analyze/results/work_headline.def"
#include "analyze/declare_results.inl"
#define GF_RESULTS "analyze/results/analysis.def"
#include "analyze/declare_results.inl"

}  // namespace gf
