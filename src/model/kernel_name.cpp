#include "model/kernel_name.h"

#include <algorithm>
#include <array>

namespace gf {

namespace {

char closing(char open) { return open == '<' ? '>' : open == '(' ? ')' : open == '[' ? ']' : '}'; }

/// Index behind the bracket that closes the one at `at`; the end of the text when none does. A '>'
/// directly inside another kind of bracket compares ("enable_if<((8)>(0)), void>") and closes
/// nothing.
std::size_t skip_bracket(std::string_view s, std::size_t at) {
  std::array<char, 256> open;
  std::size_t depth = 0;
  for (std::size_t i = at; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      if (depth == open.size()) return s.size();
      open[depth++] = c;
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (c == '>' && (s[i - 1] == '-' || open[depth - 1] != '<')) continue;
      // A bracket that does not fit closes everything inside the one it does fit.
      while (depth > 0 && closing(open[depth - 1]) != c) --depth;
      if (depth == 0) return i + 1;
      if (--depth == 0) return i + 1;
    }
  }
  return s.size();
}

struct Parts {
  std::string_view base;       // last component of the qualified name
  std::string_view arguments;  // inside its template brackets, or empty
};

/// The function's own name inside a declaration.
Parts split(std::string_view s) {
  Parts best;
  std::size_t begin = 0, i = 0;
  auto finish = [&](std::size_t end) {
    if (end > begin) best = {s.substr(begin, end - begin), {}};
  };
  bool named = false;  // characters of a component since `begin`
  while (i < s.size()) {
    const char c = s[i];
    if (c == '<') {
      const std::size_t end = skip_bracket(s, i);
      if (named) {
        finish(i);
        best.arguments = s.substr(i + 1, end > i + 1 ? end - i - 2 : 0);
        named = false;
      }
      i = end;
      begin = i;
    } else if (c == '(') {
      if (s.substr(i).starts_with("(anonymous namespace)")) {
        i += 21;
        begin = i;
        continue;
      }
      if (named) finish(i);
      // The parameter list ends the name, unless more of it follows
      // ("f(int)::{lambda()#1}::operator()() const").
      if (named && s.substr(begin, i - begin) == "operator") {
        i = skip_bracket(s, i);
        named = false;
        begin = i;
        continue;
      }
      const std::size_t end = skip_bracket(s, i);
      named = false;
      if (!s.substr(end).starts_with("::") && !s.substr(end).starts_with(" const::")) break;
      return best;  // a lambda inside a function: the function names it best
    } else if (c == '{' || c == '[') {
      i = skip_bracket(s, i);
      begin = i;
      named = false;
    } else if (c == ',') {
      break;  // the end of a template argument
    } else if (c == ' ' || c == ':' || c == '*' || c == '&') {
      if (named) finish(i);
      named = false;
      begin = ++i;
    } else {
      if (!named) begin = i;
      named = true;
      ++i;
    }
  }
  if (named) finish(s.size());
  return best;
}

bool is_wrapper(std::string_view base) {
  return base == "Kernel" || base == "Kernel2" || base == "device_kernel" ||
         base == "kernel_entry" || base == "kentry" || base == "_kernel_agent";
}

bool digit(char c) { return c >= '0' && c <= '9'; }

/// "gemvx::kernel" for the base "kernel" of "internal::gemvx::kernel<...>": alone it would say
/// nothing.
std::string_view with_scope(std::string_view s, std::string_view base) {
  const auto at = static_cast<std::size_t>(base.data() - s.data());
  if (base != "kernel" || at < 3 || s.substr(at - 2, 2) != "::") return base;
  const std::size_t begin = s.find_last_of(" :<>(){}[],&*", at - 3) + 1;
  return begin < at - 2 ? s.substr(begin, at + base.size() - begin) : base;
}

/// The last identifier of the (nested) name at `i` of a linker name, and `i` behind it:
/// "N7cutlass6KernelI..." -> "Kernel".
std::string_view last_identifier(std::string_view s, std::size_t& i) {
  std::string_view last;
  bool nested = false;
  while (i < s.size()) {
    if (s[i] == 'N' || s[i] == 'K') {
      nested = true;
      ++i;
    } else if (s[i] == 'S') {  // a name that stood before: St, S_, S1_
      ++i;
      while (i < s.size() && s[i] != '_' && s[i] != 't') ++i;
      ++i;
    } else if (digit(s[i])) {
      std::size_t length = 0;
      while (i < s.size() && digit(s[i]) && length < s.size())
        length = length * 10 + static_cast<std::size_t>(s[i++] - '0');
      if (i + length > s.size()) break;
      last = s.substr(i, length);
      i += length;
      if (!nested) break;  // what follows are the arguments
    } else {
      break;
    }
  }
  return last;
}

/// The function's own name in a linker name that the demangler gives up on (too long, or of types
/// that it does not know).
std::string_view linker_base(std::string_view s) {
  std::size_t i = 2;
  std::string_view base = last_identifier(s, i);
  while (is_wrapper(base) && i < s.size() && s[i] == 'I') {
    ++i;
    while (i + 1 < s.size() && s[i] == 'L')
      i = std::min(s.find('E', i), s.size() - 1) + 1;  // numbers before the first type
    const std::string_view inner = last_identifier(s, i);
    if (inner.empty()) break;
    base = inner;
  }
  return base;
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  // "Memcpy HtoD (Pageable -> Device)", "Memset (Device)": descriptions, not functions.
  if (name.starts_with("Memcpy") || name.starts_with("Memset")) {
    const std::string_view plain = name.substr(0, name.find(" ("));
    return std::string(plain);
  }
  const std::string spelled = demangled(name);
  if (spelled.starts_with("_Z")) {
    const std::string_view base = linker_base(spelled);
    return std::string(base.empty() ? spelled : base);
  }
  Parts parts = split(spelled);
  for (int i = 0; i < 4 && is_wrapper(parts.base) && !parts.arguments.empty(); ++i) {
    std::string_view arguments = parts.arguments;
    while (!arguments.empty() && digit(arguments[0]) && arguments.find(", ") != arguments.npos)
      arguments.remove_prefix(arguments.find(", ") + 2);
    const Parts inner = split(arguments);
    if (inner.base.empty()) break;
    parts = inner;
  }
  return std::string(parts.base.empty() ? std::string_view(spelled)
                                        : with_scope(spelled, parts.base));
}

}  // namespace gf
