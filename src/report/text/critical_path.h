// The text of `gpufathom path`.
#pragma once

#include <cstddef>
#include <string>

#include "analyze/replay/critical_path.h"
#include "report/text/format.h"

namespace gf {

/// The path by part, and its longest names: at most `rows`.
std::string critical_path_text(const CriticalPath& path, const TextStyle& style, std::size_t rows);

}  // namespace gf
