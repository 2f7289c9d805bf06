// A map from a fixed list of short texts, made at compile time. A text is told by its length and
// its first and last eight bytes, so that a look-up mostly costs two loads and two comparisons.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace gf::kineto {

template <class Value, std::size_t N>
class KeyTable {
 public:
  constexpr KeyTable(const std::pair<std::string_view, Value> (&keys)[N], Value missing)
      : missing_(missing) {
    for (std::size_t i = 0; i < N; ++i) {
      entries_[i] = {mark_of(keys[i].first), keys[i].first.data(), keys[i].second};
      std::size_t s = slot_of(entries_[i].mark);
      while (slots_[s]) s = (s + 1) % kSlots;
      slots_[s] = static_cast<std::uint8_t>(i + 1);
    }
  }

  Value find(std::string_view key) const {
    const Mark mark = mark_of(key);
    for (std::size_t s = slot_of(mark); slots_[s]; s = (s + 1) % kSlots) {
      const Entry& e = entries_[slots_[s] - 1];
      if (e.mark.first == mark.first && e.mark.last == mark.last && e.mark.size == mark.size &&
          (mark.size <= 16 || std::memcmp(e.text, key.data(), mark.size) == 0))
        return e.value;
    }
    return missing_;
  }

 private:
  static_assert(N < 128);
  static constexpr std::size_t kSlots = 256;
  struct Mark {
    std::uint64_t first = 0, last = 0;
    std::size_t size = 0;
  };
  struct Entry {
    Mark mark;
    const char* text = nullptr;
    Value value{};
  };

  static constexpr std::uint64_t bytes_of(const char* p, std::size_t n) {
    if (__builtin_is_constant_evaluated()) {
      std::uint64_t v = 0;
      for (std::size_t i = 0; i < n; ++i)
        v |= static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
      return v;
    }
    // Never reads outside the text.
    if (n == 8) return load<std::uint64_t>(p);
    if (n >= 4)
      return load<std::uint32_t>(p) | static_cast<std::uint64_t>(load<std::uint32_t>(p + n - 4))
                                          << (8 * (n - 4));
    std::uint64_t v = 0;
    for (std::size_t i = 0; i < n; ++i)
      v |= static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
    return v;
  }
  template <class T>
  static T load(const char* p) {
    static_assert(std::endian::native == std::endian::little,
                  "written for little-endian machines, as all with these profilers are");
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static constexpr Mark mark_of(std::string_view t) {
    const std::size_t n = t.size() < 8 ? t.size() : 8;
    return {bytes_of(t.data(), n), bytes_of(t.data() + t.size() - n, n), t.size()};
  }
  static constexpr std::size_t slot_of(const Mark& m) {
    return ((m.first ^ m.last * 31 ^ m.size) * 0x9e3779b97f4a7c15u >> 48) % kSlots;
  }

  std::array<Entry, N> entries_{};
  std::array<std::uint8_t, kSlots> slots_{};  // number of an entry + 1; 0: free
  Value missing_;
};

template <class Value, std::size_t N>
KeyTable(const std::pair<std::string_view, Value> (&)[N], Value) -> KeyTable<Value, N>;

}  // namespace gf::kineto
