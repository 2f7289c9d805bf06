// Text tables: the words of a line, and whether a file begins as one.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace gf::telemetry {

inline std::vector<std::string_view> words(std::string_view line,
                                           std::string_view between = " \t\r") {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < line.size();) {
    const auto begin = line.find_first_not_of(between, at);
    if (begin == line.npos) break;
    at = std::min(line.find_first_of(between, begin), line.size());
    out.push_back(line.substr(begin, at - begin));
  }
  return out;
}

/// apply(line, byte offset) for each line of a text.
template <class F>
void each_line(std::string_view text, F&& apply) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    apply(text.substr(at, end - at), at);
    at = end + 1;
  }
}

/// The score of a file whose first lines hold a heading; 0 without. `is_heading` gets one line at a
/// time.
template <class F>
int sniff_heading(std::string_view head, F&& is_heading) {
  for (std::size_t at = 0, line = 0; at < head.size() && line < 20; ++line) {
    const auto end = std::min(head.find('\n', at), head.size());
    if (is_heading(head.substr(at, end - at))) return 85;
    at = end + 1;
  }
  return 0;
}

}  // namespace gf::telemetry
