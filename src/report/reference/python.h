// The answers' types for Python, made from the declarations of the results.
#pragma once

#include <string>

namespace gf {

/// python/gpufathom/results.py: a frozen dataclass for each struct that analyze and compare answer
/// with.
std::string python_results();

}  // namespace gf
