#include "report/json.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "core/assert.h"

namespace gf {

namespace {

/// Length of the valid UTF-8 sequence at `t`, 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  auto byte = [&](std::size_t index) {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0u;
  };
  auto tail = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0), second = byte(1);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0 && tail(1)) return 2;
  if ((lead & 0xF0) == 0xE0 && tail(1) && tail(2) && !(lead == 0xE0 && second < 0xA0) &&
      !(lead == 0xED && second >= 0xA0))
    return 3;
  if (lead >= 0xF0 && lead <= 0xF4 && tail(1) && tail(2) && tail(3) &&
      !(lead == 0xF0 && second < 0x90) && !(lead == 0xF4 && second >= 0x90))
    return 4;
  return 0;
}

/// True for letters written unchanged, as most are: ASCII but for control characters, quotes and
/// backslashes.
constexpr bool plain(char letter) {
  return letter >= 0x20 && letter < 0x7f && letter != '"' && letter != '\\';
}

/// The length of the text's part that is written unchanged.
std::size_t plain_length(std::string_view text) {
  std::size_t run = 0;
  // Eight letters at once, each a byte whose highest bit is set where it is not plain: one that is
  // below 0x20, or equal to what is not plain, borrows from that bit.
  constexpr std::uint64_t kEach = 0x0101010101010101u, kHigh = 0x8080808080808080u;
  const auto none_below = [](std::uint64_t eight, std::uint64_t least) {
    return (eight - kEach * least) & ~eight;
  };
  for (; run + 8 <= text.size(); run += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + run, sizeof eight);
    const std::uint64_t odd = eight | none_below(eight, 0x20) | none_below(eight ^ kEach * '"', 1) |
                              none_below(eight ^ kEach * '\\', 1) |
                              none_below(eight ^ kEach * 0x7f, 1);
    if (odd & kHigh) break;
  }
  while (run < text.size() && plain(text[run])) ++run;
  return run;
}

}  // namespace

void append_utf8(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    out += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

void json_key(std::string& out, char before, std::string_view name) {
  std::array<char, 64> key;  // no name is as long
  GF_ASSERT(name.size() + 4 <= key.size());
  key[0] = before;
  key[1] = '"';
  std::memcpy(key.data() + 2, name.data(), name.size());
  key[name.size() + 2] = '"';
  key[name.size() + 3] = ':';
  out.append(key.data(), name.size() + 4);
}

void json_string(std::string& out, std::string_view text) {
  out += '"';
  for (;;) {
    const std::size_t run = plain_length(text);
    out += text.substr(0, run);
    text.remove_prefix(run);
    if (text.empty()) break;
    const auto letter = static_cast<unsigned char>(text.front());
    const std::size_t length = utf8_length(text);
    if (length == 0)
      out += "\\ufffd";
    else if (letter == '"' || letter == '\\')
      (out += '\\') += static_cast<char>(letter);
    else if (letter == '\n')
      out += "\\n";
    else if (letter < 0x20 || letter == 0x7f)
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", letter);
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

}  // namespace gf
