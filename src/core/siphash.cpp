#include "core/siphash.h"

#include <bit>
#include <cstring>

namespace gf {

namespace {

using U64 = std::uint64_t;

U64 number_at(const void* bytes) {
  U64 number;
  std::memcpy(&number, bytes, sizeof number);  // little-endian, as the hash is defined
  return number;
}

struct State {
  U64 v0, v1, v2, v3;
  void rounds(int count) {
    for (; count > 0; --count) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(U64 word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};

}  // namespace

U64 siphash(const SecretKey& key, std::string_view bytes) {
  const U64 low = number_at(key.data()), high = number_at(key.data() + 8);
  State state{low ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d, low ^ 0x6c7967656e657261,
              high ^ 0x7465646279746573};
  U64 last = U64{bytes.size()} << 56;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) state.take(number_at(bytes.data()));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    last |= U64{static_cast<unsigned char>(bytes[i])} << (8 * i);
  state.take(last);
  state.v2 ^= 0xff;
  state.rounds(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace gf
