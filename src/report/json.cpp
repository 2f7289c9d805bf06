#include "report/json.h"

namespace gf {

namespace {

/// Length of the valid UTF-8 sequence at `t`, 0 when there is none.
std::size_t utf8_length(std::string_view t) {
  auto byte = [&](std::size_t i) { return i < t.size() ? static_cast<unsigned char>(t[i]) : 0u; };
  auto tail = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned a = byte(0), b = byte(1);
  if (a < 0x80) return 1;
  if (a >= 0xC2 && a < 0xE0 && tail(1)) return 2;
  if ((a & 0xF0) == 0xE0 && tail(1) && tail(2) && !(a == 0xE0 && b < 0xA0) &&
      !(a == 0xED && b >= 0xA0))
    return 3;
  if (a >= 0xF0 && a <= 0xF4 && tail(1) && tail(2) && tail(3) && !(a == 0xF0 && b < 0x90) &&
      !(a == 0xF4 && b >= 0x90))
    return 4;
  return 0;
}

}  // namespace

void append_utf8(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    out += n == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, n);
    text.remove_prefix(n == 0 ? 1 : n);
  }
}

void json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    const std::size_t n = utf8_length(text);
    if (n == 0)
      out += "\\ufffd";
    else if (c == '"' || c == '\\')
      (out += '\\') += static_cast<char>(c);
    else if (c == '\n')
      out += "\\n";
    else if (c < 0x20 || c == 0x7f)
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", c);
    else
      out += text.substr(0, n);
    text.remove_prefix(n == 0 ? 1 : n);
  }
  out += '"';
}

}  // namespace gf
