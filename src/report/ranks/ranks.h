// A job of several ranks as text.
#pragma once

#include <cstddef>
#include <string>

#include "analyze/ranks/names.h"
#include "report/text/style.h"

namespace gf {

/// What the job waited for, in one sentence.
std::string ranks_headline(const JobRanks& job);
/// "2 of 8 ranks have no file: 3, 5"; empty when none is missing.
std::string missing_ranks_text(const JobRanks& job);

std::string ranks_text(const JobRanks& job, const TextStyle& style, std::size_t rows);

}  // namespace gf
