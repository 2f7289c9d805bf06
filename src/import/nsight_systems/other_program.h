// Programs of other makers that are asked to read what they alone can read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace gf::nsys {

/// The program of this name in PATH, whose relative folders do not count; empty: none.
std::string program_in_path(std::string_view name);

/// Runs a program to its end, without input, and with all that it prints in the file `output`. Its
/// exit status, 128 and its number where a signal ended it. Errors: it cannot be started.
Result<int> run_to_end(const std::string& program, std::vector<std::string> arguments,
                       const std::string& output);

/// The beginning of what a program printed, as one line.
std::string first_lines(const std::string& path);

}  // namespace gf::nsys
