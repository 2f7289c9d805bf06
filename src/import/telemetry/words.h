// The words of a line of a text table.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace gf::telemetry {

inline std::vector<std::string_view> words(std::string_view line, std::string_view between = " \t\r") {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < line.size();) {
    const auto begin = line.find_first_not_of(between, at);
    if (begin == line.npos) break;
    at = std::min(line.find_first_of(between, begin), line.size());
    out.push_back(line.substr(begin, at - begin));
  }
  return out;
}

}  // namespace gf::telemetry
