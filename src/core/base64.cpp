#include "core/base64.h"

#include <algorithm>
#include <array>

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

std::string base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  auto to = out.begin();
  const auto put = [&](unsigned bits, std::ptrdiff_t digits) {
    to = std::copy_n(kPairs[bits & 0xfff].begin(), digits, to);
  };
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
  };
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const unsigned block = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    put(block >> 12, 2);
    put(block, 2);
  }
  if (i == bytes.size()) return out;
  const unsigned block = byte(i) << 16 | byte(i + 1) << 8;
  put(block >> 12, 2);
  if (i + 2 == bytes.size()) put(block, 1);
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
