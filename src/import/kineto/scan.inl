// Finding the ends of JSON values, many bytes at a time. Included inside a namespace, once for
// every instruction set: GF_WIDE asks for AVX2, which read_fast.cpp enables for itself; otherwise
// SSE2, or plain loops on other processors. All of these may read up to kPadding bytes past the end
// of the buffer, which the caller keeps readable and zero, so that every loop stops there.

inline bool is_space(char letter) {
  return letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t';
}

#if defined(GF_WIDE)

using Bytes = __m256i;
inline constexpr std::size_t kBytes = 32;
inline Bytes load(const char* at) { return _mm256_loadu_si256(reinterpret_cast<const Bytes*>(at)); }
inline std::uint32_t bits(Bytes bytes) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
}
inline Bytes all(char letter) { return _mm256_set1_epi8(letter); }
inline Bytes either(Bytes left, Bytes right) { return _mm256_or_si256(left, right); }
inline Bytes equal(Bytes left, Bytes right) { return _mm256_cmpeq_epi8(left, right); }
inline Bytes equal(Bytes bytes, char letter) { return equal(bytes, all(letter)); }
/// Bytes up to `most`, as unsigned.
inline Bytes up_to(Bytes bytes, char most) {
  return _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, all(most)), all(most));
}
/// Bytes of ASCII above `most`.
inline Bytes above(Bytes bytes, char most) { return _mm256_cmpgt_epi8(bytes, all(most)); }
/// Those of `bytes` that are not in `left_out`.
inline Bytes without(Bytes bytes, Bytes left_out) { return _mm256_andnot_si256(left_out, bytes); }

#elif defined(__SSE2__)

using Bytes = __m128i;
inline constexpr std::size_t kBytes = 16;
inline Bytes load(const char* at) { return _mm_loadu_si128(reinterpret_cast<const Bytes*>(at)); }
inline std::uint32_t bits(Bytes bytes) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
}
inline Bytes all(char letter) { return _mm_set1_epi8(letter); }
inline Bytes either(Bytes left, Bytes right) { return _mm_or_si128(left, right); }
inline Bytes equal(Bytes left, Bytes right) { return _mm_cmpeq_epi8(left, right); }
inline Bytes equal(Bytes bytes, char letter) { return equal(bytes, all(letter)); }
/// Bytes up to `most`, as unsigned.
inline Bytes up_to(Bytes bytes, char most) {
  return _mm_cmpeq_epi8(_mm_max_epu8(bytes, all(most)), all(most));
}
/// Bytes of ASCII above `most`.
inline Bytes above(Bytes bytes, char most) { return _mm_cmpgt_epi8(bytes, all(most)); }
/// Those of `bytes` that are not in `left_out`.
inline Bytes without(Bytes bytes, Bytes left_out) { return _mm_andnot_si128(left_out, bytes); }

#endif

#if defined(GF_WIDE) || defined(__SSE2__)

inline constexpr std::uint32_t kAllBits = kBytes == 32 ? ~0u : (1u << kBytes % 32) - 1;
inline Bytes control(Bytes bytes) { return up_to(bytes, 0x1f); }

/// The first quote, backslash, control character or byte outside ASCII at or after p.
inline const char* string_stop(const char* at) {
  for (;; at += kBytes) {
    const Bytes bytes = load(at);
    const auto plain =
        bits(without(above(bytes, 0x1f), either(equal(bytes, '"'), equal(bytes, '\\'))));
    if (plain != kAllBits) return at + std::countr_zero(~plain);
  }
}

/// The first byte at or after p that ends a number or literal: a comma, a closing bracket, white
/// space or a control character.
inline const char* scalar_stop(const char* at) {
  for (;; at += kBytes) {
    const Bytes bytes = load(at);
    const Bytes bracket = equal(either(bytes, all(' ')), '}');  // ] and }
    if (const auto found = bits(either(either(equal(bytes, ','), up_to(bytes, ' ')), bracket)))
      return at + std::countr_zero(found);
  }
}

/// As scalar_stop for what numbers, true, false and null consist of; what else stands in a value
/// may end it early.
inline const char* number_stop(const char* at) {
  for (;; at += kBytes) {
    const Bytes bytes = load(at);
    const Bytes bracket = equal(either(bytes, all(' ')), '}');  // ] and }
    const auto inside = bits(without(above(bytes, ','), bracket));
    if (inside != kAllBits) return at + std::countr_zero(~inside);
  }
}

/// The first byte of a container's text that changes where one is: a quote, a bracket, or a zero
/// (the end).
inline const char* container_stop(const char* at) {
  for (;; at += kBytes) {
    const Bytes bytes = load(at);
    const Bytes low = either(bytes, all(0x20));
    if (const auto found = bits(either(either(equal(bytes, '"'), equal(bytes, '\0')),
                                       either(equal(low, '{'), equal(low, '}')))))
      return at + std::countr_zero(found);
  }
}

inline const char* skip_space(const char* at) {
  if (static_cast<unsigned char>(*at) > ' ') return at;
  if (static_cast<unsigned char>(at[1]) > ' ' && is_space(*at)) return at + 1;
  for (;; at += kBytes) {
    const Bytes bytes = load(at);
    const auto found = ~bits(either(either(equal(bytes, ' '), equal(bytes, '\n')),
                                    either(equal(bytes, '\r'), equal(bytes, '\t'))));
    const auto stop = std::countr_zero(found);
    if (static_cast<std::size_t>(stop) < kBytes) return at + stop;
  }
}

#else

inline const char* string_stop(const char* at) {
  while (*at != '"' && *at != '\\' && static_cast<signed char>(*at) >= 0x20) ++at;
  return at;
}
inline const char* scalar_stop(const char* at) {
  while (*at != ',' && *at != ']' && *at != '}' && static_cast<unsigned char>(*at) > 0x20) ++at;
  return at;
}
inline const char* number_stop(const char* at) { return scalar_stop(at); }
inline const char* container_stop(const char* at) {
  while (*at != '"' && *at != '\0' && *at != '[' && *at != ']' && *at != '{' && *at != '}') ++at;
  return at;
}
inline const char* skip_space(const char* at) {
  while (is_space(*at)) ++at;
  return at;
}

#endif

/// From the byte after an opening quote to its closing quote; null when there is none before
/// `limit` or a control character.
inline const char* string_end(const char* at, const char* limit) {
  for (;;) {
    at = string_stop(at);
    if (at >= limit || static_cast<unsigned char>(*at) < 0x20) return nullptr;
    if (*at == '"') return at;
    if (*at == '\\') {
      at += 2;
    } else {
      at += 1;
    }
  }
}

/// From an opening bracket to the place after the bracket that closes it; null when it is not
/// closed before `limit`.
inline const char* container_end(const char* at, const char* limit) {
  int depth = 0;
  for (;;) {
    at = container_stop(at);
    if (at >= limit) return nullptr;
    switch (*at) {
      case '\0':
        return nullptr;
      case '"':
        at = string_end(at + 1, limit);
        if (!at) return nullptr;
        break;
      case '[':
      case '{':
        ++depth;
        break;
      default:
        if (--depth == 0) return at + 1;
    }
    ++at;
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
  for (const char* at = begin + 1; at < limit; at += 64) {
    const Bytes bytes = load(at), right = load(at + 32);
    auto both = [](Bytes low, Bytes high) {
      return bits(low) | static_cast<std::uint64_t>(bits(high)) << 32;
    };
    if (both(equal(bytes, '\\'), equal(right, '\\'))) break;
    const std::uint64_t quotes = both(equal(bytes, '"'), equal(right, '"'));
    const __m128i parity = _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(quotes)),
                                                _mm_set1_epi8(-1), 0);
    const std::uint64_t text = static_cast<std::uint64_t>(_mm_cvtsi128_si64(parity)) ^ inside;
    inside = static_cast<std::uint64_t>(static_cast<std::int64_t>(text) >> 63);
    const Bytes low_a = either(bytes, all(0x20)), low_b = either(right, all(0x20));
    const std::uint64_t open = both(equal(low_a, '{'), equal(low_b, '{')) & ~text;
    std::uint64_t close = both(equal(low_a, '}'), equal(low_b, '}')) & ~text;
    const std::uint64_t odd = both(either(control(bytes), bytes), either(control(right), right));
    for (int closed = 1; close; close &= close - 1, ++closed) {
      const std::uint64_t before = (close & -close) - 1;
      if (depth + std::popcount(open & before) == closed) {
        plain &= (odd & before) == 0;
        const char* end = at + std::countr_zero(close) + 1;
        if (end <= limit) return end;
        return nullptr;
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
