// Results as JSON. Any described struct can be written; the layout is the struct's own declaration.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/describe.h"
#include "core/format.h"
#include "model/enums.h"

namespace gf {

/// Appends `text` as a JSON string. Invalid UTF-8 is replaced by U+FFFD, so that the output always
/// parses.
void json_string(std::string& out, std::string_view text);

/// Appends `before`, and the name of a field, which is a word of the program's own, as a key.
void json_key(std::string& out, char before, std::string_view name);

/// Appends `text` as valid UTF-8: what is not becomes U+FFFD, a byte at a time.
void append_utf8(std::string& out, std::string_view text);

inline void to_json(std::string& out, std::string_view text) { json_string(out, text); }
inline void to_json(std::string& out, const std::string& text) { json_string(out, text); }
inline void to_json(std::string& out, bool right) { out += right ? "true" : "false"; }
template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
void to_json(std::string& out, T value) {
  append_number(out, value);
}
template <NamedEnum E>
void to_json(std::string& out, E value) {
  json_string(out, name_of(value));
}
/// Shortest text that reads back to the same double; NaN and infinities are null ("no data").
inline void to_json(std::string& out, double value) {
  if (std::isfinite(value))
    append_real(out, value);
  else
    out += "null";
}
template <class T>
void to_json(std::string& out, const std::optional<T>& value);
template <class T>
void to_json(std::string& out, const std::vector<T>& values);
template <class T>
void to_json(std::string& out, const std::map<std::string, T>& values);
template <Described T>
void to_json(std::string& out, const T& object);

template <class T>
void to_json(std::string& out, const std::optional<T>& value) {
  if (value)
    to_json(out, *value);
  else
    out += "null";
}
template <class T>
void to_json(std::string& out, const std::vector<T>& values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) out += ',';
    to_json(out, values[i]);
  }
  out += ']';
}
template <class T>
void to_json(std::string& out, const std::map<std::string, T>& values) {
  out += '{';
  bool first = true;
  for (const auto& [key, value] : values) {
    if (!std::exchange(first, false)) out += ',';
    json_string(out, key);
    out += ':';
    to_json(out, value);
  }
  out += '}';
}
template <Described T>
void to_json(std::string& out, const T& object) {
  char before = '{';
  each_field(object, [&](const char* name, const auto& value, const char*) {
    json_key(out, std::exchange(before, ','), name);
    to_json(out, value);
  });
  if (before == '{') out += '{';
  out += '}';
}

}  // namespace gf
