#include "core/strings.h"

#include <cstring>

namespace gf {

namespace {

constexpr std::size_t kBlock = 1 << 18;

std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 p = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(p) ^ static_cast<std::uint64_t>(p >> 64);
}

std::uint64_t load(const char* p, std::size_t n) {
  std::uint64_t v = 0;
  std::memcpy(&v, p, n);
  return v;
}

}  // namespace

std::uint64_t hash_text(std::string_view t) {
  std::uint64_t h = 0x9e3779b97f4a7c15u ^ t.size();
  const char* p = t.data();
  std::size_t n = t.size();
  if (n >= 48) {  // three lanes at once: a multiplication need not wait for the one before it
    std::uint64_t a = h, b = h, c = h;
    for (; n >= 48; p += 48, n -= 48) {
      a = fold(a ^ load(p, 8), load(p + 8, 8) ^ 0xa0761d6478bd642fu);
      b = fold(b ^ load(p + 16, 8), load(p + 24, 8) ^ 0xe7037ed1a0b428dbu);
      c = fold(c ^ load(p + 32, 8), load(p + 40, 8) ^ 0x8ebc6af09c88c6e3u);
    }
    h = a ^ b ^ c;
  }
  for (; n >= 8; p += 8, n -= 8) h = fold(h ^ load(p, 8), 0xa0761d6478bd642fu);
  if (n > 0) h = fold(h ^ load(p, n), 0xe7037ed1a0b428dbu);
  return fold(h, 0x8ebc6af09c88c6e3u);
}

StringPool::StringPool() : slots_(1024, 0) { intern({}); }

std::string_view StringPool::store(std::string_view text) {
  bytes_ += text.size();
  if (text.empty()) return {};
  if (text.size() > block_left_) {
    const std::size_t size = text.size() > kBlock / 4 ? text.size() : kBlock;
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
    std::size_t i = hashes_[id] & mask;
    while (slots_[i] != 0) i = (i + 1) & mask;
    slots_[i] = id + 1;
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
  return id == 0 ? StringId::none : static_cast<StringId>(id - 1);
}

}  // namespace gf
