// Interned strings: every distinct text is stored once and named by a small number.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gf {

/// Names one text of a StringPool. 0 is always the empty text, which tables use for "none".
enum class StringId : std::uint32_t { none = 0 };

class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;

  /// The id of `text`, added when new. Amortised O(length).
  StringId intern(std::string_view text);
  /// The id of `text` when it is there.
  StringId find(std::string_view text) const;  // StringId::none when absent
  /// The text behind an id; stays valid for the life of the pool.
  std::string_view view(StringId id) const { return texts_[static_cast<std::uint32_t>(id)]; }
  std::size_t size() const { return texts_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::string_view store(std::string_view text);
  void grow();
  struct Slot {
    std::uint32_t number = 0;  // id + 1, 0: free
    std::uint32_t hash = 0;    // its upper half: most others are told apart without a look at them
  };
  Slot& slot(std::string_view text, std::uint64_t hash);
  StringId intern_anew(std::string_view text);
  // Recent texts are found by a few of their bytes.
  static constexpr std::size_t kRecent = 1024;

  std::vector<std::string_view> texts_;
  std::vector<std::uint64_t> hashes_;  // by id: growing needs no second look at the texts
  std::vector<Slot> slots_;            // open addressing
  std::vector<std::uint32_t> recent_;  // ids, by a sketch of the text
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_left_ = 0;
  char* block_at_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A fast 64-bit hash of a text (wyhash-style folding multiply); not stable across versions, never
/// stored.
std::uint64_t hash_text(std::string_view text);

// Values that depend on a text alone, computed once for every distinct text: a rule that looks at
// the names of a million kernels reads each name once.

/// Answers by the ids of a pool. `ask` is called with a text when its answer is first wanted.
template <class Ask>
class OncePerText {
 public:
  using Answer = std::remove_cvref_t<std::invoke_result_t<Ask&, std::string_view>>;
  OncePerText(const StringPool& texts, Ask ask)
      : texts_(texts), ask_(std::move(ask)), numbers_(texts.size()) {}

  Answer& operator()(StringId id) {
    auto& number = numbers_[static_cast<std::uint32_t>(id)];
    if (number == 0) {
      answers_.push_back(ask_(texts_.view(id)));
      number = static_cast<std::uint32_t>(answers_.size());
    }
    return answers_[number - 1];
  }

 private:
  const StringPool& texts_;
  Ask ask_;
  std::vector<std::uint32_t> numbers_;  // by id: place in answers_ + 1, 0 when not asked yet
  std::deque<Answer> answers_;
};

}  // namespace gf
