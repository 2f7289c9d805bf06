// Groups captures that belong together: those of the ranks of one job over one stretch of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/ranks/names.h"
#include "core/error.h"

namespace gf {

/// A stretch of time that every rank was recorded over, such as prefill or decode.
struct RankStage {
  std::string name;  // what tells it in the names of the files; empty: there is only one
  std::vector<RankPart> parts;
};

/// The ranks of a list such as "[0,1]" or "[0-2040/8]" (short_list); empty where it is none.
std::vector<std::int64_t> listed_ranks(std::string_view list);

/// The one rank that is in every listed group that a part has collectives of.
std::optional<std::int64_t> rank_in_groups(const RankPart& part);

/// Ranks that the job has at least, by the sizes and ranks of its groups; -1: not known.
std::int64_t ranks_by_groups(const std::vector<RankPart>& parts);

/// Numbers the ranks, and puts captures of one process at different times into stages, by time.
/// Adds what there is to doubt to the first part's quality. Errors: one capture twice, two captures
/// of one rank at the same time, a rank whose groups leave it out, more captures than the groups
/// have ranks.
Result<std::vector<RankStage>> split_stages(std::vector<RankPart> parts);

}  // namespace gf
