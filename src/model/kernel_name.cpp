#include "model/kernel_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <csetjmp>
#include <cstring>
#include <memory>

namespace gf {

namespace {

char closing(char open) {
  if (open == '<') return '>';
  if (open == '(') return ')';
  if (open == '[') return ']';
  return '}';
}

/// True for what no part of a name holds: most letters need no closer look.
constexpr auto kEndsPart = [] {
  std::array<bool, 256> ends{};
  for (const char letter : std::string_view("<>()[]{}, :*&"))
    ends[static_cast<unsigned char>(letter)] = true;
  return ends;
}();

/// The first place from `at` on that ends a part; the end of the text without one.
std::size_t end_of_part(std::string_view text, std::size_t at) {
  while (at < text.size() && !kEndsPart[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

/// Index behind the bracket that closes the one at `at`; the end of the text when none does. A '>'
/// directly inside another kind of bracket compares ("enable_if<((8)>(0)), void>") and closes
/// nothing.
std::size_t skip_bracket(std::string_view text, std::size_t at) {
  std::array<char, 256> open;
  std::size_t depth = 0;
  for (std::size_t i = at; i < text.size(); i = end_of_part(text, i + 1)) {
    const char letter = text[i];
    if (letter == '<' || letter == '(' || letter == '[' || letter == '{') {
      if (depth == open.size()) return text.size();
      open[depth++] = letter;
    } else if (letter == '>' || letter == ')' || letter == ']' || letter == '}') {
      if (letter == '>' && (text[i - 1] == '-' || open[depth - 1] != '<')) continue;
      // A bracket that does not fit closes everything inside the one it does fit.
      while (depth > 0 && closing(open[depth - 1]) != letter) --depth;
      if (depth == 0) return i + 1;
      if (--depth == 0) return i + 1;
    }
  }
  return text.size();
}

struct Parts {
  std::string_view base;       // last component of the qualified name
  std::string_view arguments;  // inside its template brackets, or empty
};

/// The function's own name inside a declaration.
Parts split(std::string_view text) {
  Parts best;
  std::size_t begin = 0, at = 0;
  auto finish = [&](std::size_t end) {
    if (end > begin) best = {text.substr(begin, end - begin), {}};
  };
  bool named = false;  // characters of a component since `begin`
  while (at < text.size()) {
    const char letter = text[at];
    if (letter == '<') {
      const std::size_t end = skip_bracket(text, at);
      if (named) {
        finish(at);
        best.arguments = text.substr(at + 1, end > at + 1 ? end - at - 2 : 0);
        named = false;
      }
      at = end;
      begin = at;
    } else if (letter == '(') {
      if (text.substr(at).starts_with("(anonymous namespace)")) {
        at += 21;
        begin = at;
        continue;
      }
      if (named) finish(at);
      // The parameter list ends the name, unless more of it follows
      // ("f(int)::{lambda()#1}::operator()() const").
      if (named && text.substr(begin, at - begin) == "operator") {
        at = skip_bracket(text, at);
        named = false;
        begin = at;
        continue;
      }
      const std::size_t end = skip_bracket(text, at);
      named = false;
      if (!text.substr(end).starts_with("::") && !text.substr(end).starts_with(" const::")) break;
      return best;  // a lambda inside a function: the function names it best
    } else if (letter == '{' || letter == '[') {
      at = skip_bracket(text, at);
      begin = at;
      named = false;
    } else if (letter == ',') {
      break;  // the end of a template argument
    } else if (letter == ' ' || letter == ':' || letter == '*' || letter == '&') {
      if (named) finish(at);
      named = false;
      begin = ++at;
    } else {
      if (!named) begin = at;
      named = true;
      at = end_of_part(text, at + 1);
    }
  }
  if (named) finish(text.size());
  return best;
}

bool is_wrapper(std::string_view base) {
  return base == "Kernel" || base == "Kernel2" || base == "device_kernel" ||
         base == "kernel_entry" || base == "kentry" || base == "_kernel_agent";
}

bool digit(char letter) { return letter >= '0' && letter <= '9'; }

/// "gemvx::kernel" for the base "kernel" of "internal::gemvx::kernel<...>": alone it would say
/// nothing.
std::string_view with_scope(std::string_view text, std::string_view base) {
  const auto at = static_cast<std::size_t>(base.data() - text.data());
  if (base != "kernel" || at < 3 || text.substr(at - 2, 2) != "::") return base;
  const std::size_t begin = text.find_last_of(" :<>(){}[],&*", at - 3) + 1;
  return begin < at - 2 ? text.substr(begin, at + base.size() - begin) : base;
}

/// The last identifier of the (nested) name at `i` of a linker name, and `i` behind it:
/// "N7cutlass6KernelI..." -> "Kernel".
std::string_view last_identifier(std::string_view text, std::size_t& at) {
  std::string_view last;
  bool nested = false;
  while (at < text.size()) {
    if (text[at] == 'N' || text[at] == 'K') {
      nested = true;
      ++at;
    } else if (text[at] == 'S') {  // a name that stood before: St, S_, S1_
      ++at;
      while (at < text.size() && text[at] != '_' && text[at] != 't') ++at;
      ++at;
    } else if (digit(text[at])) {
      std::size_t length = 0;
      while (at < text.size() && digit(text[at]) && length < text.size())
        length = length * 10 + static_cast<std::size_t>(text[at++] - '0');
      if (at + length > text.size()) break;
      last = text.substr(at, length);
      at += length;
      if (!nested) break;  // what follows are the arguments
    } else {
      break;
    }
  }
  return last;
}

/// The function's own name in a linker name that the demangler gives up on (too long, or of types
/// that it does not know).
std::string_view linker_base(std::string_view text) {
  std::size_t at = 2;
  std::string_view base = last_identifier(text, at);
  while (is_wrapper(base) && at < text.size() && text[at] == 'I') {
    ++at;
    while (at + 1 < text.size() && text[at] == 'L')
      at = std::min(text.find('E', at), text.size() - 1) + 1;  // numbers before the first type
    const std::string_view inner = last_identifier(text, at);
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

// libiberty declares basename() for C; the C++ library's declaration differs.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

namespace gf {

namespace {

// Real kernel names take some kilobytes.
constexpr std::size_t kLongestLinkerName = 64 << 10;

struct Spelled {
  explicit Spelled(std::size_t most)
      : longest(most), text(std::make_unique_for_overwrite<char[]>(most)) {}
  std::size_t longest;
  std::unique_ptr<char[]> text;
  std::size_t size = 0;
  std::jmp_buf full;
};

/// The demangler is C: the way out of it is a long jump, over no frame that has anything to
/// destroy.
void take(const char* piece, std::size_t size, void* opaque) {
  auto& spelled = *static_cast<Spelled*>(opaque);
  if (size > spelled.longest - spelled.size) std::longjmp(spelled.full, 1);
  std::memcpy(spelled.text.get() + spelled.size, piece, size);
  spelled.size += size;
}

bool spell(const char* name, Spelled& spelled) {
  if (setjmp(spelled.full) != 0) return false;
  return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_TYPES, take, &spelled) != 0;
}

}  // namespace

std::string demangled(std::string_view name, std::size_t longest) {
  if (!name.starts_with("_Z") || name.size() > kLongestLinkerName) return std::string(name);
  const std::string terminated(name);
  Spelled spelled(longest);
  if (!spell(terminated.c_str(), spelled)) return terminated;
  return std::string(spelled.text.get(), spelled.size);
}

namespace {

/// The value of ", key = value" when the text begins with it, and the text behind it. A list ends
/// with its own bracket, a number at the next comma.
bool take_part(std::string_view& text, std::string_view key, std::string_view& value) {
  if (!text.starts_with(key)) return false;
  const std::string_view rest = text.substr(key.size());
  std::size_t end = 0;
  if (rest.starts_with('[')) {
    int depth = 0;
    do {
      depth += (rest[end] == '[') - (rest[end] == ']');
      ++end;
    } while (depth > 0 && end < rest.size());
    if (depth > 0) return false;
  } else {
    end = rest.find(',');
    if (end == rest.npos) end = rest.size();
  }
  value = rest.substr(0, end);
  text = rest.substr(end);
  return true;
}

bool is_number(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

NvtxOperation cut_nvtx_operation(std::string_view text) {
  const NvtxOperation whole{text};
  const auto first = text.find(", ");
  if (first == text.npos || first == 0) return whole;
  NvtxOperation out{text.substr(0, first)};
  std::string_view rest = text.substr(first), sequence, other;
  std::int64_t number = -1;
  if (take_part(rest, ", seq = ", sequence) || take_part(rest, ", stashed seq = ", sequence)) {
    if (!is_number(sequence, out.sequence)) return whole;
  }
  if (take_part(rest, ", op_id = ", other) && !is_number(other, number)) return whole;
  take_part(rest, ", sizes = ", out.shapes);
  take_part(rest, ", input_op_ids = ", other);
  out.cut = rest.empty();
  return out.cut ? out : whole;
}

NvtxRange describe_nvtx_range(Capture& capture, Text text) {
  const NvtxOperation operation = cut_nvtx_operation(capture.text(text));
  if (!operation.cut) return {.name = text};
  return {HostKind::op, capture.strings.intern(operation.name),
          capture.strings.intern(operation.shapes), operation.sequence};
}

}  // namespace gf
