// CUDA graphs: a kernel of a graph runs under the call that launches the graph, and what it belongs
// to is known from when its node was captured (docs/attribution.md).
#pragma once

#include <span>
#include <string>

#include "core/error.h"
#include "model/capture.h"

namespace gf {

/// Links what graphs ran to the operations that were open when `capture` recorded their capture
/// (activities.captured_op). Nothing where it did not, or where several captures fit.
void link_captured_nodes(Capture& capture);

/// The same from other traces of the program: of its captures, or of a run without graphs. Takes
/// the operations over, before everything that `replay` recorded. Error: none fits.
Status link_captured_nodes(Capture& replay, std::span<const Capture> others);

}  // namespace gf
