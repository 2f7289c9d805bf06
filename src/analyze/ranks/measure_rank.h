// What one rank's capture says, small enough to be kept for thousands of ranks.
#pragma once

#include <vector>

#include "analyze/ranks/result.h"
#include "core/error.h"
#include "model/capture.h"

namespace gf {

/// One part for each rank in the capture: usually one, several where one file holds the devices or
/// processes of several ranks. Errors: a capture without device activities.
Result<std::vector<RankPart>> measure_ranks(const Capture& capture);

/// Reads what `gpufathom ranks --map` wrote.
Result<RankPart> read_rank_part(std::string_view json, const std::string& path);

}  // namespace gf
