// What a profiler wrote of an operation's inputs beside their sizes, in one text of the capture:
// types, and behind them the values of what is no tensor and the strides, parted by a character
// that JSON cannot hold.
#pragma once

#include <string>
#include <string_view>

namespace gf {

struct InputTexts {
  std::string_view types, values, strides;  // JSON arrays as recorded; empty: not recorded
};

inline constexpr char kInputTextsPart = '\x1f';

inline void join_input_texts(const InputTexts& parts, std::string& joined) {
  joined.assign(parts.types).append(1, kInputTextsPart).append(parts.values);
  joined.append(1, kInputTextsPart).append(parts.strides);
}

/// Views into the text. A text of one part is types alone.
inline InputTexts cut_input_texts(std::string_view joined) {
  InputTexts parts;
  const auto first = joined.find(kInputTextsPart);
  parts.types = joined.substr(0, first);
  if (first == joined.npos) return parts;
  joined.remove_prefix(first + 1);
  const auto second = joined.find(kInputTextsPart);
  parts.values = joined.substr(0, second);
  if (second != joined.npos) parts.strides = joined.substr(second + 1);
  return parts;
}

}  // namespace gf
