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
      std::size_t slot = slot_of(entries_[i].mark);
      while (slots_[slot]) slot = (slot + 1) % kSlots;
      slots_[slot] = static_cast<std::uint8_t>(i + 1);
    }
  }

  Value find(std::string_view key) const {
    const Mark mark = mark_of(key);
    for (std::size_t slot = slot_of(mark); slots_[slot]; slot = (slot + 1) % kSlots) {
      const Entry& entry = entries_[slots_[slot] - 1];
      if (entry.mark.first == mark.first && entry.mark.last == mark.last &&
          entry.mark.size == mark.size &&
          (mark.size <= 16 || std::memcmp(entry.text, key.data(), mark.size) == 0))
        return entry.value;
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

  static constexpr std::uint64_t bytes_of(const char* at, std::size_t count) {
    if (__builtin_is_constant_evaluated()) {
      std::uint64_t bytes = 0;
      for (std::size_t i = 0; i < count; ++i)
        bytes |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
      return bytes;
    }
    // Never reads outside the text.
    if (count == 8) return load<std::uint64_t>(at);
    if (count >= 4)
      return load<std::uint32_t>(at) |
             static_cast<std::uint64_t>(load<std::uint32_t>(at + count - 4)) << (8 * (count - 4));
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i)
      bytes |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
    return bytes;
  }
  template <class T>
  static T load(const char* at) {
    static_assert(std::endian::native == std::endian::little,
                  "written for little-endian machines, as all with these profilers are");
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  static constexpr Mark mark_of(std::string_view text) {
    std::size_t count = 8;
    if (text.size() < 8) count = text.size();
    return {bytes_of(text.data(), count), bytes_of(text.data() + text.size() - count, count),
            text.size()};
  }
  static constexpr std::size_t slot_of(const Mark& mark) {
    return ((mark.first ^ mark.last * 31 ^ mark.size) * 0x9e3779b97f4a7c15u >> 48) % kSlots;
  }

  std::array<Entry, N> entries_{};
  std::array<std::uint8_t, kSlots> slots_{};  // number of an entry + 1; 0: free
  Value missing_;
};

template <class Value, std::size_t N>
KeyTable(const std::pair<std::string_view, Value> (&)[N], Value) -> KeyTable<Value, N>;

}  // namespace gf::kineto
