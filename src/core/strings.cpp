#include "core/strings.h"

#include <cstring>

#include "core/wide.h"

namespace gf {

namespace {

constexpr std::size_t kBlock = 1 << 18;

std::uint64_t fold(std::uint64_t left, std::uint64_t right) {
  const UInt128 product = static_cast<UInt128>(left) * right;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t load(const char* bytes, std::size_t count) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, count);
  return value;
}

}  // namespace

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ text.size();
  const char* bytes = text.data();
  std::size_t count = text.size();
  if (count >= 48) {  // three lanes at once: a multiplication need not wait for the one before it
    std::uint64_t first = hash, second = hash, third = hash;
    for (; count >= 48; bytes += 48, count -= 48) {
      first = fold(first ^ load(bytes, 8), load(bytes + 8, 8) ^ 0xa0761d6478bd642fu);
      second = fold(second ^ load(bytes + 16, 8), load(bytes + 24, 8) ^ 0xe7037ed1a0b428dbu);
      third = fold(third ^ load(bytes + 32, 8), load(bytes + 40, 8) ^ 0x8ebc6af09c88c6e3u);
    }
    hash = first ^ second ^ third;
  }
  for (; count >= 8; bytes += 8, count -= 8)
    hash = fold(hash ^ load(bytes, 8), 0xa0761d6478bd642fu);
  if (count > 0) hash = fold(hash ^ load(bytes, count), 0xe7037ed1a0b428dbu);
  return fold(hash, 0x8ebc6af09c88c6e3u);
}

StringPool::StringPool() : slots_(1024, 0) { intern({}); }

std::string_view StringPool::store(std::string_view text) {
  bytes_ += text.size();
  if (text.empty()) return {};
  if (text.size() > block_left_) {
    std::size_t size = kBlock;
    if (text.size() > kBlock / 4) size = text.size();
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    if (size != kBlock) {  // a text this long gets a block of its own; the open block stays open
      std::memcpy(blocks_.back().get(), text.data(), text.size());
      return {blocks_.back().get(), text.size()};
    }
    block_at_ = blocks_.back().get();
    block_left_ = size;
  }
  char* at = block_at_;
  std::memcpy(at, text.data(), text.size());
  block_at_ += text.size();
  block_left_ -= text.size();
  return {at, text.size()};
}

std::uint32_t* StringPool::slot(std::string_view text, std::uint64_t hash) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const std::uint32_t id = slots_[i];
    if (id == 0 || (hashes_[id - 1] == hash && texts_[id - 1] == text)) return &slots_[i];
  }
}

void StringPool::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t id = 0; id < texts_.size(); ++id) {
    std::size_t slot = hashes_[id] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id + 1;
  }
}

StringId StringPool::intern(std::string_view text) {
  const std::uint64_t hash = hash_text(text);
  std::uint32_t* at = slot(text, hash);
  if (*at != 0) return static_cast<StringId>(*at - 1);
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(store(text));
  hashes_.push_back(hash);
  *at = id + 1;
  if (texts_.size() * 2 > slots_.size()) grow();
  return static_cast<StringId>(id);
}

StringId StringPool::find(std::string_view text) const {
  const std::uint32_t id = *const_cast<StringPool*>(this)->slot(text, hash_text(text));
  if (id == 0) return StringId::none;
  return static_cast<StringId>(id - 1);
}

}  // namespace gf
