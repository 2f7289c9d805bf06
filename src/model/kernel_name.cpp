#include "model/kernel_name.h"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace gf {

namespace {

char closing(char open) { return open == '<' ? '>' : open == '(' ? ')' : open == '[' ? ']' : '}'; }

/// Index behind the bracket that closes the one at `at`; the end of the text when none does. "operator<", "->" and
/// comparison signs in names confuse no one here: kernels are functions, and angle brackets nest in their templates.
std::size_t skip_bracket(std::string_view s, std::size_t at) {
  std::array<char, 256> open;
  std::size_t depth = 0;
  for (std::size_t i = at; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      if (depth == open.size()) return s.size();
      open[depth++] = c;
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (c == '>' && i > 0 && s[i - 1] == '-') continue;
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
      // The parameter list ends the name, unless more of it follows ("f(int)::{lambda()#1}::operator()() const").
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
  return base == "Kernel" || base == "Kernel2" || base == "device_kernel" || base == "kernel_entry" || base == "_kernel_agent";
}

}  // namespace

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z") || name.size() > 64 << 10) return std::string(name);
  int status = 0;
  const std::string terminated(name);
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(terminated.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(name);
}

std::string short_kernel_name(std::string_view name) {
  // "Memcpy HtoD (Pageable -> Device)", "Memset (Device)": descriptions, not functions.
  if (name.starts_with("Memcpy") || name.starts_with("Memset")) {
    const std::string_view plain = name.substr(0, name.find(" ("));
    return std::string(plain);
  }
  const std::string spelled = demangled(name);
  std::string_view rest = spelled;
  Parts parts = split(rest);
  for (int i = 0; i < 4 && is_wrapper(parts.base) && !parts.arguments.empty(); ++i) {
    const Parts inner = split(parts.arguments);
    if (inner.base.empty()) break;
    parts = inner;
  }
  return std::string(parts.base.empty() ? rest : parts.base);
}

}  // namespace gf
