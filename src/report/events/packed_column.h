// A column of the page's timeline in the bytes that the page unpacks: a column of numbers beside
// them would be larger, and read once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/column.h"

namespace gf {

/// How a column says its numbers: as they are, as the difference from the one before where none is
/// below it, or as any difference, where even is up and odd down (zigzag).
enum class Coding : std::uint8_t { number, rising, change };

/// Whole numbers of 7 bits a byte (LEB128), each put in when it is known.
class PackedColumn {
 public:
  PackedColumn() = default;
  explicit PackedColumn(Coding coding) : coding_(coding) {}
  /// With no other value than `unsaid` the column says nothing.
  PackedColumn(Coding coding, std::int64_t unsaid)
      : unsaid_(unsaid), coding_(coding), says_(false) {}
  PackedColumn(PackedColumn&& other) noexcept { swap(other); }
  PackedColumn& operator=(PackedColumn other) noexcept {
    swap(other);
    return *this;
  }
  ~PackedColumn() { give_back(block_, room_); }

  void push_back(std::int64_t value) {
    if (room_ - used_ < kLongest) make_room();
    says_ |= value != unsaid_;
    ++size_;
    const std::uint64_t last = std::exchange(last_, static_cast<std::uint64_t>(value));
    std::uint64_t number = last_;
    if (coding_ != Coding::number) number -= last;
    if (coding_ == Coding::change) number = (number << 1) ^ (0 - (number >> 63));
    char* to = block_ + used_;
    for (; number >= 0x80; number >>= 7) *to++ = static_cast<char>((number & 0x7f) | 0x80);
    *to++ = static_cast<char>(number);
    used_ = static_cast<std::size_t>(to - block_);
  }

  std::size_t size() const { return size_; }
  bool says() const { return says_ && size_ > 0; }
  Coding coding() const { return coding_; }
  std::string_view bytes() const { return {block_, used_}; }

 private:
  static constexpr std::size_t kLongest = 10;  // bytes of a number
  static constexpr std::size_t kFirst = 256;

  [[gnu::noinline]] void make_room() {
    const std::size_t room = room_ == 0 ? kFirst : 2 * room_;
    block_ = static_cast<char*>(grow(block_, room_, room));
    room_ = room;
  }
  void swap(PackedColumn& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(room_, other.room_);
    std::swap(used_, other.used_);
    std::swap(size_, other.size_);
    std::swap(last_, other.last_);
    std::swap(unsaid_, other.unsaid_);
    std::swap(coding_, other.coding_);
    std::swap(says_, other.says_);
  }

  char* block_ = nullptr;
  std::size_t room_ = 0, used_ = 0, size_ = 0;
  std::uint64_t last_ = 0;
  std::int64_t unsaid_ = 0;
  Coding coding_ = Coding::number;
  bool says_ = true;
};

}  // namespace gf
