// XXH64, the 64-bit hash of https://github.com/Cyan4973/xxHash: the same number on every machine
// and in every version, so that files may hold it.
#pragma once

#include <cstdint>
#include <string_view>

namespace gf {

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace gf
