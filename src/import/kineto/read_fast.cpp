#include "import/kineto/fields.h"
#include "import/kineto/scan.h"

namespace gf::kineto {

namespace {

constexpr std::uint32_t four(const char (&s)[5]) {
  std::uint32_t v = 0;
  for (int i = 3; i >= 0; --i) v = v << 8 | static_cast<unsigned char>(s[i]);
  return v;
}

std::uint32_t load4(const char* p) {
  std::uint32_t v;
  std::memcpy(&v, p, 4);
  if constexpr (std::endian::native == std::endian::big) v = __builtin_bswap32(v);
  return v;
}

/// Whether a container has bytes outside ASCII anywhere, or control characters elsewhere than as
/// white space between values.
bool needs_validation(const char* p, const char* end) {
  bool inside = false;
  for (; p < end; ++p) {
    const auto c = static_cast<unsigned char>(*p);
    if (c >= 0x80 || (c < 0x20 && (inside || !is_space(*p)))) return true;
    if (c == '"') inside = !inside;
    if (c == '\\') ++p;
  }
  return false;
}

namespace narrow {
#include "import/kineto/read_fast.inl"
}  // namespace narrow

}  // namespace

}  // namespace gf::kineto

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

// The functions between these lines may use AVX2; they run only where the processor has it.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,popcnt,pclmul"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,popcnt,pclmul")
#endif
#define GF_WIDE
namespace gf::kineto {

namespace {

namespace wide {
#include "import/kineto/scan.inl"
// The reader uses the scanner's functions, so it comes second.
#include "import/kineto/read_fast.inl"
}  // namespace wide

}  // namespace

}  // namespace gf::kineto
#undef GF_WIDE
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace gf::kineto {

namespace {

const auto best = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("popcnt")
                      ? &wide::read_event
                      : &narrow::read_event;

}  // namespace

const char* read_fast(const char* p, const char* end, Event& event) { return best(p, end, event); }

}  // namespace gf::kineto

#else

namespace gf::kineto {

const char* read_fast(const char* p, const char* end, Event& event) {
  return narrow::read_event(p, end, event);
}

}  // namespace gf::kineto

#endif
