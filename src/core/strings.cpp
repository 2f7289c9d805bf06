#include "core/strings.h"

#include <bit>
#include <cstring>

#include "core/apportion.h"

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

StringPool::StringPool() : slots_(1024), recent_(kRecent) { intern_anew({}); }

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

StringPool::Slot& StringPool::slot(std::string_view text, std::uint64_t hash) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.number == 0 || (slot.hash == hash >> 32 && texts_[slot.number - 1] == text))
      return slot;
  }
}

void StringPool::grow() {
  slots_.assign(slots_.size() * 2, Slot{});
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t id = 0; id < texts_.size(); ++id) {
    std::size_t at = hashes_[id] & mask;
    while (slots_[at].number != 0) at = (at + 1) & mask;
    slots_[at] = {id + 1, static_cast<std::uint32_t>(hashes_[id] >> 32)};
  }
}

namespace {

/// A few bytes of a text, to tell most texts apart.
std::uint64_t sketch(std::string_view text) {
  const char* const begin = text.data();
  const std::size_t size = text.size();
  if (size >= 8)
    return (load(begin, 8) ^ load(begin + size / 2 - 4, 8) * 3 ^ load(begin + size - 8, 8) * 5 ^
            size) *
           0x9e3779b97f4a7c15u;
  if (size >= 4)
    return (load(begin, 4) ^ load(begin + size - 4, 4) << 32 ^ size) * 0x9e3779b97f4a7c15u;
  return hash_text(text);
}

}  // namespace

StringId StringPool::intern(std::string_view text) {
  std::uint32_t& recent = recent_[sketch(text) >> (64 - std::countr_zero(kRecent))];
  if (texts_[recent] == text) return static_cast<StringId>(recent);
  const StringId id = intern_anew(text);
  recent = static_cast<std::uint32_t>(id);
  return id;
}

StringId StringPool::intern_anew(std::string_view text) {
  const std::uint64_t hash = hash_text(text);
  Slot& found = slot(text, hash);
  if (found.number != 0) return static_cast<StringId>(found.number - 1);
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(store(text));
  hashes_.push_back(hash);
  found = {id + 1, static_cast<std::uint32_t>(hash >> 32)};
  if (texts_.size() * 2 > slots_.size()) grow();
  return static_cast<StringId>(id);
}

StringId StringPool::find(std::string_view text) const {
  const std::uint32_t number = const_cast<StringPool*>(this)->slot(text, hash_text(text)).number;
  return number == 0 ? StringId::none : static_cast<StringId>(number - 1);
}

}  // namespace gf
