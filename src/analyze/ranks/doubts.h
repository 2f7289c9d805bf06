// What is noted of a job as a whole. quality.def has what single captures carry.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace gf {

/// Ranks without a file, or with one that cannot be read: the answer is not whole.
inline constexpr std::string_view kMissingRanks = "missing_ranks";

/// Whether a note of this code only says how far to trust an answer, which is whole.
constexpr bool is_job_doubt(std::string_view code) {
  constexpr std::array<std::string_view, 5> kDoubts{
      "doubtful_pairs",         // another way to pair the collectives of two ranks fits as well
      "incredible_pairs",       // collectives that did not run at the same time are left unpaired
      "no_shared_collectives",  // ranks whose clocks are tied to no other's
      "rank_guessed",           // the number comes from the file's name or place
      "unmatched_collectives",  // that only one of the ranks shows
  };
  return std::ranges::find(kDoubts, code) != kDoubts.end();
}

}  // namespace gf
