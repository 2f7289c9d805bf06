// The events behind a finding: statements that list them, and the longest of them.
#pragma once

#include <string>
#include <vector>

#include "analyze/findings/facts.h"
#include "analyze/names.h"
#include "analyze/result.h"

namespace gf {

/// As names/evidence.def has them for this finding; empty where no event shows it.
std::vector<std::string> queries_of(FindingId id);

/// The longest activities that a rule spoke of, else the longest host time that it claimed, else
/// the longest idle pieces of the reasons that it asked for. Longest first, three at most.
std::vector<Moment> longest_moments(const TraceFacts& facts, const TraceFacts::Spoken& spoken,
                                    const ClaimedTime& claimed);

}  // namespace gf
