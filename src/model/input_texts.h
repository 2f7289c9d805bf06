// What a profiler wrote of an operation's inputs beside their sizes, in one text of the capture:
// types, and behind them, each on a line of its own, the values of what is no tensor and the
// strides.
#pragma once

#include <string>
#include <string_view>

namespace gf {

struct InputTexts {
  std::string_view types, values, strides;  // JSON arrays as recorded; empty: not recorded
};

inline void join_input_texts(const InputTexts& parts, std::string& joined) {
  joined.assign(parts.types)
      .append(1, '\n')
      .append(parts.values)
      .append(1, '\n')
      .append(parts.strides);
}

/// Views into the text. A text of one line is types alone.
inline InputTexts cut_input_texts(std::string_view joined) {
  InputTexts parts;
  const auto first = joined.find('\n');
  parts.types = joined.substr(0, first);
  if (first == joined.npos) return parts;
  joined.remove_prefix(first + 1);
  const auto second = joined.find('\n');
  parts.values = joined.substr(0, second);
  if (second != joined.npos) parts.strides = joined.substr(second + 1);
  return parts;
}

}  // namespace gf
