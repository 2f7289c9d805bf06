// Conditions that hold at the border of a room, whatever a file or a user says: a broken one is a
// bug of this program. Debug, sanitizer and fuzz builds check them; a release does not.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace gf {

[[noreturn]] inline void assertion_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: must hold: %s\n", file, line, what);
  std::abort();
}

}  // namespace gf

#if !defined(NDEBUG) || defined(GPUFATHOM_ASSERTS)
#define GF_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::gf::assertion_failed(#condition, __FILE__, __LINE__))
#else
#define GF_ASSERT(condition) static_cast<void>(sizeof(!(condition)))
#endif
