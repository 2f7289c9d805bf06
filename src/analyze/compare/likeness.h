// Do two runs do the same work? What has to be known before one of them is called slower.
#pragma once

#include <cstddef>
#include <vector>

#include "analyze/compare/role_match.h"

namespace gf {

/// Holds a run against the first one. Leaves `common_ratio` empty.
ComparedLikeness likeness_of(const Comparison& comparison, const std::vector<RunDetails>& details,
                             const RoleMatch& match, std::size_t run);

/// Takes back verdicts that the likeness of the runs does not bear.
void heed_likeness(Comparison& comparison);

}  // namespace gf
