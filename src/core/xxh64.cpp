#include "core/xxh64.h"

#include <bit>
#include <cstring>

namespace gf {

namespace {

using U64 = std::uint64_t;
constexpr U64 kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F,
              kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63,
              kPrime5 = 0x27D4EB2F165667C5;

template <class T>
U64 take(const char*& at) {
  T value;
  std::memcpy(&value, at, sizeof value);  // the hash is of little-endian numbers
  at += sizeof value;
  return value;
}

U64 round_of(U64 sum, U64 input) { return std::rotl(sum + input * kPrime2, 31) * kPrime1; }
U64 merge(U64 sum, U64 lane) { return (sum ^ round_of(0, lane)) * kPrime1 + kPrime4; }

/// Four lanes over 32 bytes at a time.
U64 long_sum(const char*& at, const char* end, U64 seed) {
  U64 first = seed + kPrime1 + kPrime2, second = seed + kPrime2, third = seed,
      fourth = seed - kPrime1;
  while (end - at >= 32) {
    first = round_of(first, take<U64>(at));
    second = round_of(second, take<U64>(at));
    third = round_of(third, take<U64>(at));
    fourth = round_of(fourth, take<U64>(at));
  }
  const U64 sum =
      std::rotl(first, 1) + std::rotl(second, 7) + std::rotl(third, 12) + std::rotl(fourth, 18);
  return merge(merge(merge(merge(sum, first), second), third), fourth);
}

}  // namespace

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed) {
  static_assert(std::endian::native == std::endian::little);
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  U64 sum = bytes.size() >= 32 ? long_sum(at, end, seed) : seed + kPrime5;
  sum += bytes.size();
  while (end - at >= 8) sum = std::rotl(sum ^ round_of(0, take<U64>(at)), 27) * kPrime1 + kPrime4;
  if (end - at >= 4)
    sum = std::rotl(sum ^ take<std::uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
  while (at != end) sum = std::rotl(sum ^ take<std::uint8_t>(at) * kPrime5, 11) * kPrime1;
  sum = (sum ^ sum >> 33) * kPrime2;
  sum = (sum ^ sum >> 29) * kPrime3;
  return sum ^ sum >> 32;
}

}  // namespace gf
