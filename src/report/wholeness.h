// Whether an answer is whole: what exit code 0 promises.
#pragma once

#include <string>
#include <vector>

#include "analyze/result.h"

namespace gf {

/// Why the answer does not cover all that was asked, one sentence each; empty when it is whole. An
/// answer is whole when no event was lost to damage, a device did something in the window, and a
/// counter report that was given belongs to the trace. Doubts that lose nothing (rounded counters,
/// missing launch records) do not count.
std::vector<std::string> shortcomings(const Analysis& analysis);

/// True for the quality codes that say that data is missing or wrong.
bool loses_data(std::string_view quality_code);

}  // namespace gf
