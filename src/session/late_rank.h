// The cause of a rank's lateness by its own capture: what `analyze` says of it and not of its peer.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyze/ranks/ranks.h"
#include "session/ranks.h"

namespace gf {

/// The first finding of the latest rank that explains much of what the job would gain, and that the
/// rank which waits most has less of. Empty where no rank is late by its host, where `captures` (of
/// LoadedRanks) has not a file for each of the two alone (what stands now where a part of `ranks
/// --map` was made may be another job's), or no finding tells them apart.
std::vector<ApartFinding> findings_apart(const JobRanks& job, const RankInputs& inputs,
                                         const std::map<std::string, std::size_t>& captures,
                                         const Progress& progress);

}  // namespace gf
