// Answers never take the place of what they are about.
#pragma once

#include <string>
#include <string_view>

namespace gf::cli {

/// Whether a file of this name is read when a folder that holds it is named.
bool looks_like_capture(std::string_view path);

/// Whether writing `output` would write over `input`: the same file, or a capture that lies in the
/// folder `input`. An output that does not exist yet takes no place.
bool would_overwrite(const std::string& output, const std::string& input);

/// The complaint about it.
std::string overwrites_text(const std::string& output);

}  // namespace gf::cli
