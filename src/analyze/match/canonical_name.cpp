#include "analyze/match/canonical_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "core/strings.h"
#include "model/kernel_name.h"

namespace gf {

namespace {

bool word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool digit(char c) { return c >= '0' && c <= '9'; }

/// Index behind the bracket that closes the one at `at`, counting only brackets of that kind.
std::size_t behind(std::string_view s, std::size_t at) {
  const char open = s[at], close = open == '(' ? ')' : open == '{' ? '}' : ']';
  int depth = 0;
  for (std::size_t i = at; i < s.size(); ++i) {
    if (s[i] == open) ++depth;
    if (s[i] == close && --depth == 0) return i + 1;
  }
  return s.size();
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

bool dropped(std::string_view w) {
  static constexpr std::array<std::string_view, 8> words{
      "const", "volatile", "void", "struct", "class", "enum", "typename", "__restrict__"};
  return std::ranges::find(words, w) != words.end();
}

/// "2ul" -> "2", "(int)1024" comes here without its cast; other words stay.
std::string_view plain_literal(std::string_view w) {
  if (w == "true") return "1";
  if (w == "false") return "0";
  if (!digit(w[0])) return w;
  while (w.size() > 1 && (w.back() == 'u' || w.back() == 'l' || w.back() == 'U' || w.back() == 'L'))
    w.remove_suffix(1);
  return w;
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
std::vector<std::string_view> mangled_identifiers(std::string_view s) {
  std::vector<std::string_view> out;
  for (std::size_t i = 2; i < s.size();) {
    if (!digit(s[i])) {
      ++i;
      continue;
    }
    // Digits of a literal ("Li64E"), of a substitution ("S1_") and of a parameter ("T0_") are no
    // lengths.
    const bool literal = s[i - 2] == 'L' && std::islower(static_cast<unsigned char>(s[i - 1]));
    if (literal || s[i - 1] == 'S' || s[i - 1] == 'T') {
      while (i < s.size() && s[i] != (literal ? 'E' : '_')) ++i;
      continue;
    }
    std::size_t length = 0;
    while (i < s.size() && digit(s[i]) && length < s.size())
      length = length * 10 + static_cast<std::size_t>(s[i++] - '0');
    if (length == 0 || i + length > s.size() || !std::isalpha(static_cast<unsigned char>(s[i])))
      continue;
    out.push_back(s.substr(i, length));
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
      names, [&](std::string_view n) { return std::ranges::binary_search(words, n); });
  return static_cast<double>(found) / static_cast<double>(names.size());
}

}  // namespace

std::string canonical_kernel_name(std::string_view name) {
  const std::string spelled = demangled(name);
  const std::string_view s = spelled;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < s.size();) {
    const char c = s[i];
    if (word(c)) {
      std::size_t end = i;
      while (end < s.size() && word(s[end])) ++end;
      const std::string_view w = s.substr(i, end - i);
      if (!dropped(w)) out.emplace_back(plain_literal(w));
      i = end;
    } else if (c == ':' && s.substr(i).starts_with("::")) {
      // A plain scope is a namespace (or a class without arguments): tools leave different ones
      // out, so all go.
      if (!out.empty() && word(out.back()[0]) &&
          !(out.back()[0] == 'L' && out.back().size() > 1 && digit(out.back()[1])) && i > 0 &&
          word(s[i - 1]))
        out.pop_back();
      i += 2;
    } else if (c == '(') {
      i = s.substr(i).starts_with("(anonymous namespace)")
              ? i + 21
              : behind(s, i);  // a parameter list, or the cast before a literal
    } else if (c == '{' || c == '[') {
      const std::size_t end = behind(s, i);
      out.push_back(unnamed_type(s.substr(i, end - i)));
      i = end;
    } else if (c == '<' && s.substr(i).starts_with("<unnamed>")) {
      i += 9;
    } else {
      if (c != ' ') out.emplace_back(1, c);
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

double name_similarity(std::string_view a, std::string_view b) {
  if (a.starts_with("_Z") != b.starts_with("_Z"))
    return a.starts_with("_Z") ? identifier_share(a, b) : identifier_share(b, a);
  const auto pairs = [](std::string_view canonical) {
    const auto parts = tokens(canonical);
    std::vector<std::uint64_t> out;
    std::uint64_t previous = 0;
    for (auto part : parts) {
      const std::uint64_t h = hash_text(part);
      out.push_back(previous * 0x9E3779B97F4A7C15ull ^ h);
      previous = h;
    }
    std::ranges::sort(out);
    return out;
  };
  const auto left = pairs(a), right = pairs(b);
  if (left.empty() || right.empty()) return left.empty() && right.empty() ? 1 : 0;
  std::vector<std::uint64_t> both;
  std::ranges::set_intersection(left, right, std::back_inserter(both));
  return 2.0 * static_cast<double>(both.size()) / static_cast<double>(left.size() + right.size());
}

}  // namespace gf
