#include "core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gf {

bool contains(std::string_view text, std::string_view part) {
  return ::memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

namespace {

/// The code point that a text begins with and its length in bytes; length 0: no valid UTF-8.
struct Decoded {
  char32_t code = 0;
  std::size_t length = 0;
};

Decoded decode(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1};
  std::size_t length = 0;
  if (first >= 0xc2 && first < 0xe0) length = 2;
  if (first >= 0xe0 && first < 0xf0) length = 3;
  if (first >= 0xf0 && first < 0xf5) length = 4;
  if (length == 0 || text.size() < length) return {};
  char32_t code = first & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3fu);
  }
  return {code, length};
}

/// Marks that turn the direction of what follows, separators that some take for line ends, and what
/// has no width: with those, two names can look the same, and a text can hold another one, which
/// programs read and nobody sees.
bool is_hidden(char32_t code) {
  constexpr std::pair<char32_t, char32_t> kHidden[] = {
      {0xad, 0xad},     {0x34f, 0x34f},   {0x61c, 0x61c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},
      {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164},
      {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  return std::any_of(std::begin(kHidden), std::end(kHidden), [code](const auto& range) {
    return code >= range.first && code <= range.second;
  });
}

/// Appends what stands at the beginning of the text, spelled out where needed; gives its length.
std::size_t append_printable(std::string& out, std::string_view text) {
  const auto [code, length] = decode(text);
  const auto byte = static_cast<unsigned char>(text[0]);
  if (text[0] == '\n')
    out += "\\n";
  else if (text[0] == '\t')
    out += "\\t";
  else if (length == 0 || byte < 0x20 || byte == 0x7f)
    out += fmt::format("\\x{:02x}", byte);
  else if (code >= 0x80 && code < 0xa0)
    out += fmt::format("\\x{:02x}", static_cast<unsigned>(code));
  else if (is_hidden(code))
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
  else
    out += text.substr(0, length);
  return std::max<std::size_t>(length, 1);
}

/// The length of a color ("\x1b[1;31m") at the beginning of the text; 0: there is none.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const auto end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) text.remove_prefix(append_printable(out, text));
  return out;
}

std::string printable_lines(std::string_view text, bool keep_colours) {
  std::string out;
  out.reserve(text.size());
  bool at_start = true;  // of a line, but for spaces
  while (!text.empty()) {
    if (const auto colour = keep_colours ? colour_length(text) : 0; colour > 0) {
      out += text.substr(0, colour);
      text.remove_prefix(colour);
      continue;
    }
    const char next = text[0];
    if (next == '\n') {
      out += next;
      text.remove_prefix(1);
      at_start = true;
    } else if ((at_start && text.starts_with("::")) || text.starts_with("##[")) {
      out += next == ':' ? "\\x3a" : "\\x23";
      text.remove_prefix(1);
      at_start = false;
    } else {
      at_start = at_start && next == ' ';
      text.remove_prefix(append_printable(out, text));
    }
  }
  return out;
}

}  // namespace gf
