// Second pass: a run of events of one line becomes rows. Chunks are independent of each other, so they decode in parallel.
#pragma once

#include <string_view>

#include "import/xplane/rows.h"

namespace gf::xplane {

Part decode(std::string_view chunk, const LineContext& line);

}  // namespace gf::xplane
