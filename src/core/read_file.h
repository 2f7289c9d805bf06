// Small files that a person names (an energy model, a token), read whole.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"

namespace gf {

/// The bytes of an ordinary file. A pipe, a device and a directory are refused without waiting for
/// them, and so is a file of more than `most` bytes; one that is empty is "".
Result<std::string> read_small_file(const std::string& path, std::uint64_t most = 256 << 20);

/// The same, also of /proc, where a file that cannot be read says as little as an empty one.
std::string text_of_file(const std::string& path, std::uint64_t most = 256 << 20);

}  // namespace gf
