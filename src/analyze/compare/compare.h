// Two or more runs side by side: what of the difference in step time comes from where.
#pragma once

#include <string>
#include <vector>

#include "analyze/compare/names.h"
#include "analyze/compare/run_facts.h"
#include "analyze/result.h"

namespace gf {

#define GF_RESULTS "analyze/results/comparison.def"
#include "analyze/declare_results.inl"

/// Compares whole analyses (max_rows = 0). Times are of one step when every run has steps in its
/// window, and whole nanoseconds: a run's time_ns is the total over its steps, rounded, and its
/// parts are apportioned so that they sum to it exactly. So do the changes. Rows are ordered by the
/// largest change of any run.
///
/// `facts`: of each run, or empty. `batches`: items of a step of each run, one for all, or empty:
/// then those of the shapes.
Comparison compare(const std::vector<Analysis>& runs, const std::vector<RunFacts>& facts = {},
                   const std::vector<std::int64_t>& batches = {});

}  // namespace gf
