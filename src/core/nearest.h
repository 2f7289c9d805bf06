// Suggestions for mistyped names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gf {

/// The name that is the fewest edits away from `asked`; empty when none is near.
std::string nearest(std::string_view asked, const std::vector<std::string>& names);

/// ": did you mean NAME?", the end of a complaint; empty when no name is near.
std::string did_you_mean(std::string_view asked, const std::vector<std::string>& names);

}  // namespace gf
