// A job of several ranks as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/ranks/ranks.h"
#include "report/text/format.h"

namespace gf {

std::string ranks_text(const JobRanks& job, const TextStyle& style, std::size_t rows);

// The causes of waiting in a job of several ranks, in sentences that text and page share.

/// The main cause of waiting in one sentence, then caveats, a sentence each.
std::vector<std::string> ranks_sentences(const JobRanks& job);
/// "2 of 8 ranks have no file: 3, 5"; empty when none is missing.
std::string missing_ranks_text(const JobRanks& job);

}  // namespace gf
