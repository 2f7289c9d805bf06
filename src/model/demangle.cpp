// Linker names, spelled out within bounds. The C++ library's own demangler knows none: each
// substitution may stand for two of the one before, so that 400 bytes spell out to gigabytes.
// libiberty's hands its text over piece by piece and can be left when there is enough of it.

#include <csetjmp>
#include <cstring>
#include <memory>
// libiberty declares basename() for C; the C++ library's declaration differs.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include "model/kernel_name.h"

namespace gf {

namespace {

// Real kernel names take some kilobytes.
constexpr std::size_t kLongestLinkerName = 64 << 10;
constexpr std::size_t kLongestSpelled = 64 << 10;

struct Spelled {
  std::unique_ptr<char[]> text = std::make_unique_for_overwrite<char[]>(kLongestSpelled);
  std::size_t size = 0;
  std::jmp_buf full;
};

/// The demangler is C: the way out of it is a long jump, over no frame that has anything to
/// destroy.
void take(const char* piece, std::size_t size, void* opaque) {
  auto& spelled = *static_cast<Spelled*>(opaque);
  if (size > kLongestSpelled - spelled.size) std::longjmp(spelled.full, 1);
  std::memcpy(spelled.text.get() + spelled.size, piece, size);
  spelled.size += size;
}

bool spell(const char* name, Spelled& spelled) {
  if (setjmp(spelled.full) != 0) return false;
  return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_TYPES, take, &spelled) != 0;
}

}  // namespace

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z") || name.size() > kLongestLinkerName) return std::string(name);
  const std::string terminated(name);
  Spelled spelled;
  if (!spell(terminated.c_str(), spelled)) return terminated;
  return std::string(spelled.text.get(), spelled.size);
}

}  // namespace gf
