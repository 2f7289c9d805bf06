#include "core/base64.h"

#include <array>
#include <cstring>

namespace gf {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

using Pair = std::array<char, 2>;

/// The digits of twelve bits.
constexpr auto kPairs = [] {
  std::array<Pair, 1 << 12> pairs{};
  for (std::size_t bits = 0; bits < pairs.size(); ++bits)
    pairs[bits] = {kDigits[bits >> 6], kDigits[bits & 63]};
  return pairs;
}();

}  // namespace

void append_base64(std::string& out, std::string_view bytes) {
  const std::size_t before = out.size();
  out.resize(before + in_base64(bytes.size()), '=');
  char* to = out.data() + before;
  const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto put = [&](unsigned bits, std::size_t digits) {
    std::memcpy(to, kPairs[bits & 0xfff].data(), digits);
    to += digits;
  };
  std::size_t left = bytes.size();
  for (; left >= 3; left -= 3, from += 3) {
    const unsigned block = unsigned{from[0]} << 16 | unsigned{from[1]} << 8 | from[2];
    put(block >> 12, 2);
    put(block, 2);
  }
  if (left == 0) return;
  const unsigned block = unsigned{from[0]} << 16 | (left > 1 ? unsigned{from[1]} << 8 : 0);
  put(block >> 12, 2);
  if (left > 1) put(block, 1);
}

std::string base64(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  std::array<int, 256> values;
  values.fill(-1);
  for (std::size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<int>(i);
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  unsigned block = 0, bits = 0;
  for (const char digit : text) {
    const int value = values[static_cast<unsigned char>(digit)];
    if (value < 0) return {};
    block = (block << 6 | static_cast<unsigned>(value)) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(block >> bits & 0xff);
  }
  return out;
}

}  // namespace gf
