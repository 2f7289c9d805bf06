#pragma once

#include <string>
#include <string_view>

namespace gf {

/// In ASCII; other bytes stay.
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& letter : out)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return out;
}

}  // namespace gf
