// The answer over several ranks, which `ranks` gives and `analyze` of several files leads to.
#pragma once

#include <optional>

#include "cli/load_ranks.h"
#include "cli/output.h"

namespace gf::cli {

/// Reads, analyses and writes; gives the exit code.
int answer_ranks(const RankInputs& input, const OutputOptions& output,
                 std::optional<std::size_t> rows);

}  // namespace gf::cli
