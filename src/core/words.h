// Lists of words that are written as one text: "max min num".
#pragma once

#include <algorithm>
#include <string_view>

namespace gf {

/// Whether `holds` is true of a word of the list.
template <class Holds>
constexpr bool any_word(std::string_view list, Holds holds) {
  while (!list.empty()) {
    const auto end = std::min(list.find(' '), list.size());
    if (holds(list.substr(0, end))) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

constexpr bool has_word(std::string_view list, std::string_view word) {
  return any_word(list, [word](std::string_view one) { return one == word; });
}

}  // namespace gf
