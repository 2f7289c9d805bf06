// The answer over several ranks, which `ranks` gives and `analyze` of several files leads to.
#pragma once

#include <optional>

#include "cli/load_ranks.h"
#include "cli/output.h"

namespace gf::cli {

/// What becomes of an answer that is not whole.
enum class Incomplete { answer, refuse };

/// Reads, analyses and writes; gives the exit code.
int answer_ranks(const RankInputs& input, const OutputOptions& output,
                 std::optional<std::size_t> rows, Incomplete incomplete);

}  // namespace gf::cli
