#pragma once

#include <string_view>

namespace gf {

/// The text without these characters at its ends.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r") {
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

}  // namespace gf
