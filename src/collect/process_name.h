// What a process calls itself.
#pragma once

#include <cstdint>
#include <string>

namespace gf {

/// The name of a process from /proc, empty when it cannot be seen.
std::string process_name(std::int64_t pid);

}  // namespace gf
