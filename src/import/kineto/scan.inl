// Finding the ends of JSON values, many bytes at a time. Included inside a namespace, once for
// every instruction set: GF_WIDE asks for AVX2, which read_fast.cpp enables for itself; otherwise
// SSE2, or plain loops on other processors. All of these may read up to kPadding bytes past the end
// of the buffer, which the caller keeps readable and zero, so that every loop stops there.

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

#if defined(GF_WIDE)

using Bytes = __m256i;
inline constexpr std::size_t kBytes = 32;
inline Bytes load(const char* p) { return _mm256_loadu_si256(reinterpret_cast<const Bytes*>(p)); }
inline std::uint32_t bits(Bytes m) { return static_cast<std::uint32_t>(_mm256_movemask_epi8(m)); }
inline Bytes all(char c) { return _mm256_set1_epi8(c); }
inline Bytes either(Bytes a, Bytes b) { return _mm256_or_si256(a, b); }
inline Bytes equal(Bytes v, char c) { return _mm256_cmpeq_epi8(v, all(c)); }
/// Bytes below 0x20, as unsigned.
inline Bytes control(Bytes v) {
  return _mm256_cmpeq_epi8(_mm256_max_epu8(v, all(0x1f)), all(0x1f));
}

#elif defined(__SSE2__)

using Bytes = __m128i;
inline constexpr std::size_t kBytes = 16;
inline Bytes load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const Bytes*>(p)); }
inline std::uint32_t bits(Bytes m) { return static_cast<std::uint32_t>(_mm_movemask_epi8(m)); }
inline Bytes all(char c) { return _mm_set1_epi8(c); }
inline Bytes either(Bytes a, Bytes b) { return _mm_or_si128(a, b); }
inline Bytes equal(Bytes v, char c) { return _mm_cmpeq_epi8(v, all(c)); }
/// Bytes below 0x20, as unsigned.
inline Bytes control(Bytes v) { return _mm_cmpeq_epi8(_mm_max_epu8(v, all(0x1f)), all(0x1f)); }

#endif

#if defined(GF_WIDE) || defined(__SSE2__)

/// The first quote, backslash, control character or byte outside ASCII at or after p.
inline const char* string_stop(const char* p) {
  for (;; p += kBytes) {
    const Bytes v = load(p);
    if (const auto m = bits(either(either(equal(v, '"'), equal(v, '\\')), either(control(v), v))))
      return p + std::countr_zero(m);
  }
}

/// The first byte at or after p that ends a number or literal: a comma, a closing bracket, white
/// space or a control character.
inline const char* scalar_stop(const char* p) {
  for (;; p += kBytes) {
    const Bytes v = load(p);
    const Bytes bracket = equal(either(v, all(0x20)), '}');  // ] and }
    if (const auto m =
            bits(either(either(equal(v, ','), equal(v, ' ')), either(control(v), bracket))))
      return p + std::countr_zero(m);
  }
}

/// The first byte of a container's text that changes where one is: a quote, a bracket, or a zero
/// (the end).
inline const char* container_stop(const char* p) {
  for (;; p += kBytes) {
    const Bytes v = load(p);
    const Bytes low = either(v, all(0x20));
    if (const auto m = bits(either(either(equal(v, '"'), equal(v, '\0')),
                                   either(equal(low, '{'), equal(low, '}')))))
      return p + std::countr_zero(m);
  }
}

inline const char* skip_space(const char* p) {
  if (static_cast<unsigned char>(*p) > ' ') return p;
  if (static_cast<unsigned char>(p[1]) > ' ' && is_space(*p)) return p + 1;
  for (;; p += kBytes) {
    const Bytes v = load(p);
    const auto m = ~bits(
        either(either(equal(v, ' '), equal(v, '\n')), either(equal(v, '\r'), equal(v, '\t'))));
    const auto stop = std::countr_zero(m);
    if (static_cast<std::size_t>(stop) < kBytes) return p + stop;
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
inline const char* skip_space(const char* p) {
  while (is_space(*p)) ++p;
  return p;
}

#endif

/// From the byte after an opening quote to its closing quote; null when there is none before
/// `limit` or a control character.
inline const char* string_end(const char* p, const char* limit) {
  for (;;) {
    p = string_stop(p);
    if (p >= limit || static_cast<unsigned char>(*p) < 0x20) return nullptr;
    if (*p == '"') return p;
    p += *p == '\\' ? 2 : 1;
  }
}

/// From an opening bracket to the place after the bracket that closes it; null when it is not
/// closed before `limit`.
inline const char* container_end(const char* p, const char* limit) {
  int depth = 0;
  for (;;) {
    p = container_stop(p);
    if (p >= limit) return nullptr;
    switch (*p) {
      case '\0':
        return nullptr;
      case '"':
        p = string_end(p + 1, limit);
        if (!p) return nullptr;
        break;
      case '[':
      case '{':
        ++depth;
        break;
      default:
        if (--depth == 0) return p + 1;
    }
    ++p;
  }
}

#if defined(GF_WIDE)

/// The same by 64 bytes at once: which bytes lie inside texts comes from the running parity of the
/// quotes. Texts with backslashes go the other way. `plain` tells whether all of the container's
/// bytes are printable ASCII or spaces.
inline const char* container_end_wide(const char* const begin, const char* limit, bool& plain) {
  int depth = 1;
  std::uint64_t inside = 0;  // all ones while a text continues from the block before
  plain = true;
  for (const char* p = begin + 1; p < limit; p += 64) {
    const Bytes a = load(p), b = load(p + 32);
    auto both = [](Bytes low, Bytes high) {
      return bits(low) | static_cast<std::uint64_t>(bits(high)) << 32;
    };
    if (both(equal(a, '\\'), equal(b, '\\'))) break;
    const std::uint64_t quotes = both(equal(a, '"'), equal(b, '"'));
    const __m128i parity = _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(quotes)),
                                                _mm_set1_epi8(-1), 0);
    const std::uint64_t text = static_cast<std::uint64_t>(_mm_cvtsi128_si64(parity)) ^ inside;
    inside = static_cast<std::uint64_t>(static_cast<std::int64_t>(text) >> 63);
    const Bytes low_a = either(a, all(0x20)), low_b = either(b, all(0x20));
    const std::uint64_t open = both(equal(low_a, '{'), equal(low_b, '{')) & ~text;
    std::uint64_t close = both(equal(low_a, '}'), equal(low_b, '}')) & ~text;
    const std::uint64_t odd = both(either(control(a), a), either(control(b), b));
    for (int closed = 1; close; close &= close - 1, ++closed) {
      const std::uint64_t before = (close & -close) - 1;
      if (depth + std::popcount(open & before) == closed) {
        plain &= (odd & before) == 0;
        const char* end = p + std::countr_zero(close) + 1;
        return end <= limit ? end : nullptr;
      }
    }
    plain &= odd == 0;
    depth +=
        std::popcount(open) - std::popcount(both(equal(low_a, '}'), equal(low_b, '}')) & ~text);
  }
  plain = false;  // not looked at
  return container_end(begin, limit);
}

#endif
