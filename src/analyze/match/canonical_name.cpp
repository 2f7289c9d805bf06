#include "analyze/match/canonical_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "core/strings.h"
#include "model/kernel_name.h"

namespace gf {

namespace {

bool word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '$' ||
         static_cast<unsigned char>(letter) >= 0x80;
}
bool digit(char letter) { return letter >= '0' && letter <= '9'; }

/// Index behind the bracket that closes the one at `at`, counting only brackets of that kind.
std::size_t behind(std::string_view text, std::size_t at) {
  const char open = text[at], close = open == '(' ? ')' : open == '{' ? '}' : ']';
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return i + 1;
  }
  return text.size();
}

/// "{lambda(float)#1}", "[lambda(float) (instance 1)]" -> "L1"; other unnamed types -> "U1".
std::string unnamed_type(std::string_view inside) {
  std::size_t end = inside.size();
  while (end > 0 && !digit(inside[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && digit(inside[begin - 1])) --begin;
  std::string name(1, inside.find("lambda") != inside.npos ? 'L' : 'U');
  return name += inside.substr(begin, end - begin);
}

bool dropped(std::string_view word) {
  static constexpr std::array<std::string_view, 8> words{
      "const", "volatile", "void", "struct", "class", "enum", "typename", "__restrict__"};
  return std::ranges::find(words, word) != words.end();
}

/// "2ul" -> "2", "(int)1024" comes here without its cast; other words stay.
std::string_view plain_literal(std::string_view word) {
  if (word == "true") return "1";
  if (word == "false") return "0";
  if (!digit(word[0])) return word;
  while (word.size() > 1 &&
         (word.back() == 'u' || word.back() == 'l' || word.back() == 'U' || word.back() == 'L'))
    word.remove_suffix(1);
  return word;
}

std::vector<std::string_view> tokens(std::string_view canonical) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < canonical.size();) {
    std::size_t end = i + 1;
    if (word(canonical[i]))
      while (end < canonical.size() && word(canonical[end])) ++end;
    if (canonical[i] != ' ') out.push_back(canonical.substr(i, end - i));
    i = end;
  }
  return out;
}

/// The identifiers of a linker name that cannot be demangled (some tools cut long ones):
/// "<length><identifier>" parts.
std::vector<std::string_view> mangled_identifiers(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t i = 2; i < text.size();) {
    if (!digit(text[i])) {
      ++i;
      continue;
    }
    // Digits of a literal ("Li64E"), of a substitution ("S1_") and of a parameter ("T0_") are no
    // lengths.
    const bool literal =
        text[i - 2] == 'L' && std::islower(static_cast<unsigned char>(text[i - 1]));
    if (literal || text[i - 1] == 'S' || text[i - 1] == 'T') {
      while (i < text.size() && text[i] != (literal ? 'E' : '_')) ++i;
      continue;
    }
    std::size_t length = 0;
    while (i < text.size() && digit(text[i]) && length < text.size())
      length = length * 10 + static_cast<std::size_t>(text[i++] - '0');
    if (length == 0 || i + length > text.size() ||
        !std::isalpha(static_cast<unsigned char>(text[i])))
      continue;
    out.push_back(text.substr(i, length));
    i += length;
  }
  return out;
}

/// Share of the distinct identifiers of a linker name that a spelled-out name has.
double identifier_share(std::string_view mangled, std::string_view canonical) {
  auto names = mangled_identifiers(mangled);
  auto words = tokens(canonical);
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  std::ranges::sort(words);
  if (names.size() < 3) return 0;
  const auto found = std::ranges::count_if(
      names, [&](std::string_view name) { return std::ranges::binary_search(words, name); });
  return static_cast<double>(found) / static_cast<double>(names.size());
}

}  // namespace

std::string canonical_kernel_name(std::string_view name) {
  const std::string spelled = demangled(name);
  const std::string_view source = spelled;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < source.size();) {
    const char letter = source[i];
    if (word(letter)) {
      std::size_t end = i;
      while (end < source.size() && word(source[end])) ++end;
      const std::string_view word = source.substr(i, end - i);
      if (!dropped(word)) out.emplace_back(plain_literal(word));
      i = end;
    } else if (letter == ':' && source.substr(i).starts_with("::")) {
      // A plain scope is a namespace (or a class without arguments): tools leave different ones
      // out, so all go.
      if (!out.empty() && word(out.back()[0]) &&
          !(out.back()[0] == 'L' && out.back().size() > 1 && digit(out.back()[1])) && i > 0 &&
          word(source[i - 1]))
        out.pop_back();
      i += 2;
    } else if (letter == '(') {
      if (source.substr(i).starts_with("(anonymous namespace)")) {
        i = i + 21;
      } else {
        i = behind(source, i);
      }  // a parameter list, or the cast before a literal
    } else if (letter == '{' || letter == '[') {
      const std::size_t end = behind(source, i);
      out.push_back(unnamed_type(source.substr(i, end - i)));
      i = end;
    } else if (letter == '<' && source.substr(i).starts_with("<unnamed>")) {
      i += 9;
    } else {
      if (letter != ' ') out.emplace_back(1, letter);
      ++i;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i > 0 && word(out[i][0]) && word(out[i - 1].back())) text += ' ';
    text += out[i];
  }
  return text;
}

double name_similarity(std::string_view first, std::string_view second) {
  if (first.starts_with("_Z") != second.starts_with("_Z")) {
    if (first.starts_with("_Z")) return identifier_share(first, second);
    return identifier_share(second, first);
  }
  const auto pairs = [](std::string_view canonical) {
    const auto parts = tokens(canonical);
    std::vector<std::uint64_t> out;
    std::uint64_t previous = 0;
    for (auto part : parts) {
      const std::uint64_t mark = hash_text(part);
      out.push_back(previous * 0x9E3779B97F4A7C15ull ^ mark);
      previous = mark;
    }
    std::ranges::sort(out);
    return out;
  };
  const auto left = pairs(first), right = pairs(second);
  if (left.empty() || right.empty()) {
    if (left.empty() && right.empty()) return 1;
    return 0;
  }
  std::vector<std::uint64_t> both;
  std::ranges::set_intersection(left, right, std::back_inserter(both));
  return 2.0 * static_cast<double>(both.size()) / static_cast<double>(left.size() + right.size());
}

}  // namespace gf
