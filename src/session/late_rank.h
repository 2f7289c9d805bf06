// The cause of a rank's lateness by its own capture: what `analyze` says of it and not of its peer.
#pragma once

#include <vector>

#include "analyze/ranks/ranks.h"
#include "session/ranks.h"

namespace gf {

/// The first finding of the latest rank that explains much of what the job would gain, and that the
/// rank which waits most has less of. Empty where no rank is late by its host, where its captures
/// are not at hand (parts of `ranks --map`), or no finding tells them apart.
std::vector<ApartFinding> findings_apart(const JobRanks& job, const RankInputs& inputs,
                                         const Progress& progress);

}  // namespace gf
