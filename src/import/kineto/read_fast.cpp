#include <array>

#include "import/kineto/fields.h"
#include "import/kineto/layouts.h"
#include "import/kineto/numbers.h"
#include "import/kineto/patterns.h"

namespace gf::kineto {

namespace {

constexpr std::uint32_t four(const char (&s)[5]) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(s[i]);
  return value;
}

std::uint32_t load4(const char* at) {
  std::uint32_t value;
  std::memcpy(&value, at, 4);
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap32(value);
  return value;
}

/// True if a container has bytes outside ASCII anywhere, or control characters elsewhere than as
/// white space between values.
bool needs_validation(const char* at, const char* end) {
  bool inside = false;
  for (; at < end; ++at) {
    const auto letter = static_cast<unsigned char>(*at);
    if (letter >= 0x80 || (letter < 0x20 && (inside || !is_space(*at)))) return true;
    if (letter == '"') inside = !inside;
    if (letter == '\\') ++at;
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

const bool has_wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("popcnt");
const auto best = has_wide ? &wide::read_event : &narrow::read_event;
const auto best_known = has_wide ? &wide::read_known : &narrow::read_known;
const auto best_pattern = has_wide ? &wide::read_pattern : &narrow::read_pattern;

}  // namespace

const char* read_fast(const char* at, const char* end, Event& event) {
  return best(at, end, event);
}

const char* Layouts::read(const char* at, const char* end, Event& event) {
  return trusted_ ? best_known(*this, at, end, event) : nullptr;
}

const char* read_by_pattern(EventPattern& pattern, std::string_view likely_name, const char* at,
                            const char* end, Event& event) {
  return best_pattern(pattern, likely_name, at, end, event);
}

}  // namespace gf::kineto

#else

namespace gf::kineto {

const char* read_fast(const char* at, const char* end, Event& event) {
  return narrow::read_event(at, end, event);
}

const char* Layouts::read(const char* at, const char* end, Event& event) {
  return trusted_ ? narrow::read_known(*this, at, end, event) : nullptr;
}

const char* read_by_pattern(EventPattern& pattern, std::string_view likely_name, const char* at,
                            const char* end, Event& event) {
  return narrow::read_pattern(pattern, likely_name, at, end, event);
}

}  // namespace gf::kineto

#endif
