// Shell-style patterns for tables of names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

/// Which pairs of letters a text has: what a pattern needs and the text lacks is told without a
/// search, so that many patterns cost one look at the text and a few at each pattern.
class LetterPairs {
 public:
  explicit LetterPairs(std::string_view text) {
    for (std::size_t i = 1; i < text.size(); ++i) {
      const unsigned place = place_of(text[i - 1], text[i]);
      bits_[place / 64] |= std::uint64_t{1} << place % 64;
    }
  }
  /// False: the text does not hold the pattern, in which * stands for any text. True: look.
  bool may_hold(std::string_view pattern) const {
    for (std::size_t i = 1; i < pattern.size(); ++i) {
      if (pattern[i - 1] == '*' || pattern[i] == '*') continue;
      const unsigned place = place_of(pattern[i - 1], pattern[i]);
      if (!(bits_[place / 64] >> place % 64 & 1)) return false;
    }
    return true;
  }

 private:
  static constexpr unsigned kPlaces = 1024;
  static unsigned place_of(char first, char second) {
    return (static_cast<unsigned char>(first) * 37u + static_cast<unsigned char>(second)) % kPlaces;
  }
  std::array<std::uint64_t, kPlaces / 64> bits_{};
};

}  // namespace gf
