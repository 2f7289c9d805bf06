// Findings: sentences with evidence. Each says what costs time, what to change, and what that could
// give back at most.
#pragma once

#include <future>
#include <optional>
#include <vector>

#include "analyze/context.h"
#include "analyze/replay/what_if.h"
#include "analyze/result.h"
#include "analyze/utilization/kernel_levels.h"
#include "core/time.h"

namespace gf {

/// From everything else in the analysis: caveats about the capture first, then by the time they
/// could give back. docs/findings.md lists the rules with their thresholds.
struct FoundInTrace {
  std::vector<Finding> findings;
  std::vector<FindingClaim> claims;  // of those with a named cause
};
FoundInTrace find_in_trace(const Context& context, const KernelLevels& levels,
                           const Analysis& analysis);

/// With what rules of a team's own found; nothing where advice is withheld.
FoundInTrace with_own_rules(FoundInTrace found, std::vector<OwnFinding> own);

/// The same from samples alone, which know no kernel: from the devices' waterfalls and readings.
/// `settled`: when the activity was steady, empty when it never was.
std::vector<Finding> find_in_samples(const Capture& capture, const Analysis& analysis,
                                     Interval settled);

// Gains of findings, by replaying the program with the change that mends them.

/// The part of the program that runs again for them; empty where none can. It stands on no finding,
/// but on the works of kernels, and may be built meanwhile.
std::optional<ProgramReplay> replay_of_part(const Context& context);

/// The findings, those with a change of `whatif` or a claim with what it gives, and what all these
/// give together. As they are where a tenth of the time is unexplained. The context has the claims.
struct ReplayedFindings {
  std::vector<Finding> findings;
  std::optional<ReplayedTogether> together;
  ReplayedPart part;  // of the program, which ran
};
/// `replay` is asked for only where a finding has a change.
ReplayedFindings with_replayed_gains(std::vector<Finding> findings, const Context& context,
                                     std::future<std::optional<ProgramReplay>> replay);

/// A step with every set of the changes that the first findings with one ask for; of long captures
/// a few steps run again. Nothing where none asks for one.
std::optional<WhatIfSwitches> replayed_switches(const Analysis& analysis, const Context& context);

}  // namespace gf
