// What is said of one rank (RankPart) and of a job of several (JobRanks).
#pragma once

#include "analyze/ranks/names.h"
#include "analyze/result.h"

namespace gf {

#define GF_RESULTS "analyze/results/rank_part.def"
#include "analyze/declare_results.inl"
#define GF_RESULTS "analyze/results/ranks.def"
#include "analyze/declare_results.inl"

}  // namespace gf
