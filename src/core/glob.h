// Shell-style patterns for tables of names.
#pragma once

#include <string>
#include <string_view>

namespace gf {

/// True when `text` matches `pattern`, in which * stands for any text and every other character for
/// itself. Linear in the text for each star.
inline bool glob_match(std::string_view pattern, std::string_view text) {
  // "*word*", the common form, is a plain search.
  if (pattern.size() > 2 && pattern.front() == '*' && pattern.back() == '*' &&
      pattern.find('*', 1) == pattern.size() - 1)
    return text.find(pattern.substr(1, pattern.size() - 2)) != std::string_view::npos;
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// ASCII lower case.
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace gf
