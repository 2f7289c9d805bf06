// Whether an answer is whole: what exit code 0 promises.
#pragma once

#include <string>
#include <vector>

#include "analyze/result.h"
#include "model/capture.h"

namespace gf {

/// Why the answer does not cover all that was asked, one sentence each; empty when it is whole. An
/// answer is whole when no event was lost to damage (quality.def), a device did something in the
/// window, and a counter report that was given belongs to the trace. Doubts that lose nothing
/// (rounded counters, missing launch records) do not count.
std::vector<std::string> shortcomings(const Analysis& analysis);

/// The same for what is told of a capture without analysing it: what its quality says is missing.
std::vector<std::string> shortcomings(const Capture& capture);

}  // namespace gf
