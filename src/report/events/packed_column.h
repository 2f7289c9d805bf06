// A column of the page's timeline in the bytes that the page unpacks: a column of numbers beside
// them would be larger, and read once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace gf {

/// How a column says its numbers: as they are, as the difference from the one before where none is
/// below it, or as any difference, where even is up and odd down (zigzag).
enum class Coding : std::uint8_t { number, rising, change };

/// Whole numbers of 7 bits a byte (LEB128), each put in when it is known. They stand in blocks, so
/// that none moves.
class PackedColumn {
 public:
  PackedColumn() = default;
  explicit PackedColumn(Coding coding) : coding_(coding) {}
  /// With no other value than `unsaid` the column says nothing.
  PackedColumn(Coding coding, std::int64_t unsaid)
      : unsaid_(unsaid), coding_(coding), says_(false) {}

  void push_back(std::int64_t value) {
    if (end_ - at_ < kLongest) return push_into_next(value);
    says_ |= value != unsaid_;
    ++size_;
    const std::uint64_t last = std::exchange(last_, static_cast<std::uint64_t>(value));
    std::uint64_t number = last_;
    if (coding_ != Coding::number) number -= last;
    if (coding_ == Coding::change) number = (number << 1) ^ (0 - (number >> 63));
    char* to = at_;
    for (; number >= 0x80; number >>= 7) *to++ = static_cast<char>((number & 0x7f) | 0x80);
    *to++ = static_cast<char>(number);
    at_ = to;
  }

  std::size_t size() const { return size_; }
  bool says() const { return says_ && size_ > 0; }
  Coding coding() const { return coding_; }
  std::vector<std::string_view> bytes() const {
    std::vector<std::string_view> all;
    for (const Block& block : blocks_)
      all.emplace_back(block.bytes.get(), &block == &blocks_.back()
                                              ? static_cast<std::size_t>(at_ - block.bytes.get())
                                              : block.used);
    return all;
  }

 private:
  static constexpr std::ptrdiff_t kLongest = 10;  // bytes of a number
  static constexpr std::size_t kFirst = 256, kLargest = 32 << 10;
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t room = 0, used = 0;  // used: once it is full
  };

  [[gnu::noinline]] void push_into_next(std::int64_t value) {
    std::size_t room = kFirst;
    if (!blocks_.empty()) {
      Block& full = blocks_.back();
      full.used = static_cast<std::size_t>(at_ - full.bytes.get());
      room = std::min(2 * full.room, kLargest);
    }
    blocks_.push_back({std::make_unique_for_overwrite<char[]>(room), room});
    at_ = blocks_.back().bytes.get();
    end_ = at_ + room;
    push_back(value);
  }

  char *at_ = nullptr, *end_ = nullptr;  // of the last block
  std::size_t size_ = 0;
  std::uint64_t last_ = 0;
  std::int64_t unsaid_ = 0;
  Coding coding_ = Coding::number;
  bool says_ = true;
  std::vector<Block> blocks_;
};

}  // namespace gf
