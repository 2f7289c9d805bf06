// Findings: sentences with evidence. Each says what costs time, what to change, and what that could
// give back at most.
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/utilization/kernel_levels.h"

namespace gf {

/// Fills analysis.findings from everything else in the analysis: caveats about the capture first,
/// then by the time they could give back. docs/findings.md lists the rules with their thresholds.
void find_findings(const Context& context, const KernelLevels& levels, Analysis& analysis);

}  // namespace gf
