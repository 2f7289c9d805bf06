// Threads for loops of an analysis.
#pragma once

#include <cstddef>

#include "analyze/context.h"

namespace gf {

/// For a loop over so many rows: one for each stretch of them that AnalyzeOptions::rows_a_thread
/// makes worth it, and no more than are asked for.
unsigned workers_for(const Context& context, std::size_t rows);

}  // namespace gf
