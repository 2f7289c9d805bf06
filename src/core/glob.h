// Shell-style patterns for tables of names.
#pragma once

#include <string_view>

namespace gf {

/// True when `text` matches `pattern`, in which * stands for any text and every other character for
/// itself. Linear in the text for each star.
inline bool glob_match(std::string_view pattern, std::string_view text) {
  // "*word*", the common form, is a plain search.
  if (pattern.size() > 2 && pattern.front() == '*' && pattern.back() == '*' &&
      pattern.find('*', 1) == pattern.size() - 1)
    return text.find(pattern.substr(1, pattern.size() - 2)) != std::string_view::npos;
  std::size_t position = 0, at = 0, star = std::string_view::npos, resume = 0;
  while (at < text.size()) {
    if (position < pattern.size() && pattern[position] == '*') {
      star = position++;
      resume = at;
    } else if (position < pattern.size() && pattern[position] == text[at]) {
      ++position;
      ++at;
    } else if (star != std::string_view::npos) {
      position = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  while (position < pattern.size() && pattern[position] == '*') ++position;
  return position == pattern.size();
}

}  // namespace gf
