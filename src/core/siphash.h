// SipHash-2-4 (https://www.aumasson.jp/siphash): a hash that only who has the key can give.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gf {

using SecretKey = std::array<unsigned char, 16>;

std::uint64_t siphash(const SecretKey& key, std::string_view bytes);

}  // namespace gf
