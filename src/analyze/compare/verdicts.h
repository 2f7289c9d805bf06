// What may be said of the runs of a comparison.
#pragma once

#include <vector>

#include "analyze/compare/compare.h"

namespace gf {

/// The shortest ends of the paths that tell the runs apart: "trace.json", or "a/trace.json" and
/// "b/trace.json".
void label_runs(std::vector<ComparedRun>& runs);

/// True when the runs are different ranks of the same job: one world, other ranks, the same time.
bool are_ranks_of_one_job(const std::vector<RunFacts>& facts);

/// What differs beside the program.
std::vector<ComparedDifference> find_differences(const Comparison& comparison);

/// Ratios with their bounds, and the verdicts. Sets speedup.
void judge(Comparison& comparison);

}  // namespace gf
