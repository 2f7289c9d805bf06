// A map from 64-bit keys to numbers that only grows, for lookups made with every event: in one
// array, without an allocation for each key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gf {

class NumberMap {
 public:
  /// The number of a key, and true where it is new: the caller puts it in, before the next call.
  std::pair<std::uint32_t*, bool> place(std::uint64_t key) {
    if (used_ * 2 >= slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    const bool fresh = !slot.used;
    if (fresh) {
      slot = {key, 0, true};
      ++used_;
    }
    return {&slot.number, fresh};
  }

  /// The number of a key; null where it is not in.
  const std::uint32_t* find(std::uint64_t key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.used ? &slot.number : nullptr;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = 0;
    bool used = false;
  };
  /// That of the key, or the one that it would take.
  std::size_t place_of(std::uint64_t key) const {
    const std::uint64_t mixed = key * 0x9e3779b97f4a7c15u;
    std::size_t at = (mixed ^ mixed >> 32) & (slots_.size() - 1);
    while (slots_[at].used && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    auto before = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : 2 * slots_.size()));
    for (const Slot& slot : before)
      if (slot.used) slots_[place_of(slot.key)] = slot;
  }
  std::vector<Slot> slots_;  // a power of two
  std::size_t used_ = 0;
};

}  // namespace gf
