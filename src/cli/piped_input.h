// Input that can be read only once: standard input and pipes.
#pragma once

#include <string>

#include "core/error.h"

namespace gf::cli {

/// A file with what `path` holds: itself, or for "-" and for pipes a temporary copy, which goes
/// away when the program ends. Importers look at an input's beginning and then read it again, in
/// parts. Errors: standard input is a terminal, no room for the copy.
Result<std::string> readable_file(const std::string& path);

}  // namespace gf::cli
