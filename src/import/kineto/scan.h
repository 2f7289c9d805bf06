// Finding the ends of JSON values, 16 bytes at a time. All of these may read up to kPadding bytes past the end of the
// buffer, which the caller keeps readable and zero, so that every loop stops there.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gf::kineto {

#if defined(__SSE2__)

inline __m128i load16(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
inline unsigned mask_of(__m128i m) { return static_cast<unsigned>(_mm_movemask_epi8(m)); }
inline __m128i equal(__m128i v, char c) { return _mm_cmpeq_epi8(v, _mm_set1_epi8(c)); }
/// Bytes below 0x20, as unsigned.
inline __m128i control(__m128i v) { return _mm_cmpeq_epi8(_mm_max_epu8(v, _mm_set1_epi8(0x1f)), _mm_set1_epi8(0x1f)); }

/// The first quote, backslash, control character or byte outside ASCII at or after p.
inline const char* string_stop(const char* p) {
  for (;; p += 16) {
    const __m128i v = load16(p);
    const unsigned m = mask_of(_mm_or_si128(_mm_or_si128(equal(v, '"'), equal(v, '\\')), _mm_or_si128(control(v), v)));
    if (m) return p + std::countr_zero(m);
  }
}

/// The first byte at or after p that ends a number or literal: a comma, a closing bracket, white space or a control character.
inline const char* scalar_stop(const char* p) {
  for (;; p += 16) {
    const __m128i v = load16(p);
    const __m128i bracket = equal(_mm_or_si128(v, _mm_set1_epi8(0x20)), '}');  // ] and }
    const unsigned m = mask_of(_mm_or_si128(_mm_or_si128(equal(v, ','), equal(v, ' ')), _mm_or_si128(control(v), bracket)));
    if (m) return p + std::countr_zero(m);
  }
}

/// The first byte of a container's text that changes where one is: a quote, a bracket, or the zero after the end.
inline const char* container_stop(const char* p) {
  for (;; p += 16) {
    const __m128i v = load16(p);
    const __m128i low = _mm_or_si128(v, _mm_set1_epi8(0x20));
    const unsigned m = mask_of(_mm_or_si128(_mm_or_si128(equal(v, '"'), equal(v, '\0')), _mm_or_si128(equal(low, '{'), equal(low, '}'))));
    if (m) return p + std::countr_zero(m);
  }
}

#else

inline const char* string_stop(const char* p) {
  while (*p != '"' && *p != '\\' && static_cast<signed char>(*p) >= 0x20) ++p;
  return p;
}
inline const char* scalar_stop(const char* p) {
  while (*p != ',' && *p != ']' && *p != '}' && static_cast<unsigned char>(*p) > 0x20) ++p;
  return p;
}
inline const char* container_stop(const char* p) {
  while (*p != '"' && *p != '\0' && *p != '[' && *p != ']' && *p != '{' && *p != '}') ++p;
  return p;
}

#endif

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

inline const char* skip_space(const char* p) {
  while (is_space(*p)) ++p;
  return p;
}

/// From the byte after an opening quote to its closing quote; null when there is none before `limit` or a control character.
inline const char* string_end(const char* p, const char* limit) {
  for (;;) {
    p = string_stop(p);
    if (p >= limit || static_cast<unsigned char>(*p) < 0x20) return nullptr;
    if (*p == '"') return p;
    p += *p == '\\' ? 2 : 1;
  }
}

/// From an opening bracket to the place after the bracket that closes it; null when it is not closed before `limit`.
inline const char* container_end(const char* p, const char* limit) {
  int depth = 0;
  for (;;) {
    p = container_stop(p);
    if (p >= limit) return nullptr;
    switch (*p) {
      case '\0': return nullptr;
      case '"':
        p = string_end(p + 1, limit);
        if (!p) return nullptr;
        break;
      case '[':
      case '{': ++depth; break;
      default:
        if (--depth == 0) return p + 1;
    }
    ++p;
  }
}

}  // namespace gf::kineto
