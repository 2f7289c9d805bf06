// A captured job with one rank as its peers, a link as its like, or more micro-batches: the gains
// of `ranks` as an answer of `whatif`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/ranks/names.h"
#include "analyze/replay/what_if.h"
#include "core/error.h"

namespace gf {

struct JobChanges {
  std::optional<std::int64_t> rank;  // as its peers; none: each that the job gains by
  double micro_batches = 1;          // so many times as many, each as much smaller
};

/// Errors as analyze_ranks(); also a rank that is not there, no pipeline, and parts that do not say
/// what waited for what.
Result<WhatIf> what_if_of_job(std::vector<RankPart> parts, const JobChanges& changes,
                              unsigned workers);

}  // namespace gf
