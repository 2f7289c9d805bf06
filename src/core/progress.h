// Progress of long work. A library never prints: the command line passes a function
// that does.
#pragma once

#include <functional>
#include <string_view>

namespace gf {

/// Called now and then with what is being done and how much of it is done, 0..1 (negative:
/// unknown). Returning false asks the work to stop; it then ends with an error that says so.
using Progress = std::function<bool(std::string_view stage, double done)>;

}  // namespace gf
