// Second pass: a run of events of one line becomes rows. Chunks are independent of each other, so
// they decode in parallel.
#pragma once

#include <string_view>

#include "import/xplane/rows.h"

namespace gf::xplane {

/// Fills an empty part.
void decode(std::string_view chunk, const LineContext& line, Part& part);

}  // namespace gf::xplane
