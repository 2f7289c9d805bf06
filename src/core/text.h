// Texts as we use them everywhere: made safe to print, trimmed, compared, put together.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gf {

// Text from files, programs and drivers may hold anything; terminals and CI logs obey some of it.

/// Text in one line that cannot move the cursor, color the terminal, break the line, turn its
/// direction or hide in it: such characters are spelled out ("\n", "\x1b", "\u202e").
std::string printable(std::string_view text);

/// The same for a text of several lines, whose ends stay, and so do the colors of our own when
/// `keep_colours`. No line begins with "::", and none holds "##[", which CI services take for
/// commands.
std::string printable_lines(std::string_view text, bool keep_colours);

/// True if `part` stands in `text`. Of words in quotes in JSON, whose letters are mostly quotes,
/// std::string_view::find() stops at each of them.
bool contains(std::string_view text, std::string_view part);

/// The text without these characters at its ends.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r") {
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// In ASCII; other bytes stay.
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& letter : out)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return out;
}

// Lists of words that are written as one text: "max min num".

/// True if `holds` is true of a word of the list.
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

// Placeholders for missing values.

/// `text`, or `fallback` when it is empty.
constexpr std::string_view text_or(std::string_view text, std::string_view fallback) {
  return text.empty() ? fallback : text;
}

// Shell-style patterns for tables of names.

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

/// The pairs of letters of a text: what a pattern needs and the text lacks is told without a
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
