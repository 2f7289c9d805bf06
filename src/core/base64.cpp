#include "core/base64.h"

#include <array>

namespace gf {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned block = 0;
    for (std::size_t j = 0; j < 3; ++j)
      block = block << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j)
      out += i + j <= bytes.size() ? kDigits[block >> (18 - 6 * j) & 63] : '=';
  }
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
