// A growable array for the capture's tables, as narrow as its data. A column whose rows are all the
// same holds that value once ("folded"): most captures leave many columns unsaid, and those cost
// neither memory nor time. 64-bit numbers that all fit into 32 bits, as most durations and ids do,
// are kept in those ("narrow") until one does not. Large blocks are the system's own pages: growth
// moves pages instead of copying them, and pages never touched cost no memory, so that a table of
// millions of rows peaks at its own size.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>

namespace gf {

// Memory for large arrays that grow: small blocks come from the heap, large ones are pages of their
// own, which move without a copy.

/// From here on a block is pages of its own.
inline constexpr std::size_t kOwnPages = 256 << 10;

/// A block of `size` bytes with the first min(old, size) bytes of `block`, which it replaces (null:
/// none). Throws std::bad_alloc.
void* grow(void* block, std::size_t old, std::size_t size);
/// Frees what grow() gave; `size` is what was asked for.
void give_back(void* block, std::size_t size) noexcept;

/// Held while a column unfolds or widens under readers.
inline std::mutex& unfolding() {
  static std::mutex mutex;
  return mutex;
}

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr bool kFolds = std::is_arithmetic_v<T> || std::is_enum_v<T>;
  static constexpr bool kNarrows = std::is_same_v<T, std::int64_t>;
  using Half = std::int32_t;
  using Read = std::conditional_t<kNarrows, T, const T&>;  // a narrow row has no address as a T

 public:
  using value_type = T;
  Column() = default;
  Column(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }
  Column(Column&& other) noexcept { swap(other); }
  Column(const Column& other) { append(other); }
  Column& operator=(Column other) noexcept {
    swap(other);
    return *this;
  }
  ~Column() {
    give_back(at(block()), bytes_of(block(), capacity_));
    give_back(replaced_, replaced_bytes_);
  }

  void push_back(T value) {
    const Block now = block();
    if (size_ < capacity_) {
      if (now != kNone && !is_narrow(now)) {
        wide(now)[size_++] = value;
        return;
      }
      if constexpr (kNarrows)
        if (is_narrow(now) && fits_half(value)) {
          narrow(now)[size_++] = static_cast<Half>(value);
          return;
        }
    }
    push_back_otherwise(value);
  }
  void append(std::span<const T> values) {
    if (values.empty()) return;
    if (block() == kNone && fits(values[0]) && are_all(values, values[0])) {
      same_ = values[0];
    } else if (may_be_narrow() && all_fit_half(values)) {
      if constexpr (kNarrows) {
        Half* const rows = make_room<Half>(values.size()) + size_;
        for (std::size_t i = 0; i < values.size(); ++i) rows[i] = static_cast<Half>(values[i]);
      }
    } else {
      std::memcpy(static_cast<void*>(make_room<T>(values.size()) + size_), values.data(),
                  values.size_bytes());
    }
    size_ += values.size();
  }
  /// Makes room for so many more values, which the caller writes.
  std::span<T> extend(std::size_t count) {
    T* const rows = make_room<T>(count);
    return {rows + std::exchange(size_, size_ + count), count};
  }
  void append(const Column& other) {
    const Block theirs = other.block();
    if (other.folded()) return resize(size_ + other.size_, other.same_);
    if constexpr (kNarrows)
      if (is_narrow(theirs)) {
        if (may_be_narrow())
          std::copy_n(narrow(theirs), other.size_, make_room<Half>(other.size_) + size_);
        else
          std::copy_n(narrow(theirs), other.size_, make_room<T>(other.size_) + size_);
        size_ += other.size_;
        return;
      }
    append(std::span<const T>(wide(theirs), other.size_));
  }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    const Block now = block();
    if (now != kNone || !kFolds) move_to(now, count);
    capacity_ = count;
  }
  void resize(std::size_t count, T fill = T{}) {
    if (count > size_) {
      if (block() == kNone && fits(fill)) {
        same_ = fill;
      } else if (may_be_narrow() && fits_half(fill)) {
        if constexpr (kNarrows) {
          Half* const rows = make_room<Half>(count - size_);
          std::fill(rows + size_, rows + count, static_cast<Half>(fill));
        }
      } else {
        T* const rows = make_room<T>(count - size_);
        std::fill(rows + size_, rows + count, fill);
      }
    }
    size_ = count;
  }
  void clear() { size_ = 0; }
  void shrink_to_fit() {
    if (size_ == capacity_ || size_ == 0 || block() == kNone) return;
    move_to(block(), size_);
    capacity_ = size_;
  }
  /// Every value becomes apply(value); one call for all rows of a folded column.
  template <class F>
  void transform(F&& apply) {
    std::size_t row = 0;
    if (folded()) {
      same_ = apply(same_);
      return;
    }
    if constexpr (kNarrows)
      if (const Block now = block(); is_narrow(now)) {
        for (; row < size_; ++row) {
          const T value = apply(T{narrow(now)[row]});
          if (!fits_half(value)) {
            unfolded()[row++] = value;  // from here on
            break;
          }
          narrow(now)[row] = static_cast<Half>(value);
        }
        if (row == size_) return;
      }
    T* const rows = size_ > 0 ? wide(block()) : nullptr;
    for (; row < size_; ++row) rows[row] = apply(rows[row]);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// True if one value stands for all rows. Writing through the members below unfolds.
  bool folded() const { return size_ > 0 && block() == kNone; }
  T* data() { return unfolded(); }
  const T* data() const { return unfolded(); }
  T& operator[](std::size_t i) { return unfolded()[i]; }
  [[gnu::always_inline]] Read operator[](std::size_t i) const {
    const Block now = block();
    if constexpr (kNarrows)
      if (is_narrow(now)) return narrow(now)[i];
    return now == kNone ? same_ : wide(now)[i];
  }
  /// The least and the largest value; of a column that is not empty.
  std::pair<T, T> range() const {
    const Block now = block();
    if (now == kNone) return {same_, same_};
    const auto of = [&](const auto* rows) -> std::pair<T, T> {
      auto least = rows[0], most = rows[0];
      for (std::size_t i = 1; i < size_; ++i) {
        least = std::min(least, rows[i]);
        most = std::max(most, rows[i]);
      }
      return {least, most};
    };
    if constexpr (kNarrows)
      if (is_narrow(now)) return of(narrow(now));
    return of(wide(now));
  }
  T& back() { return unfolded()[size_ - 1]; }
  Read back() const { return (*this)[size_ - 1]; }
  T* begin() { return unfolded(); }
  T* end() { return unfolded() + size_; }
  const T* begin() const { return unfolded(); }
  const T* end() const { return unfolded() + size_; }
  std::span<const T> span() const { return {unfolded(), size_}; }

 private:
  /// The place of the rows, and in the lowest bit whether they are narrow; kNone: folded, or
  /// without rows.
  using Block = std::uintptr_t;
  static constexpr Block kNone = 0, kNarrowBit = 1;
  Block block() const { return block_.load(std::memory_order_acquire); }
  static bool is_narrow(Block block) {
    if constexpr (kNarrows)
      return block & kNarrowBit;
    else
      return false;
  }
  static void* at(Block block) { return reinterpret_cast<void*>(block & ~kNarrowBit); }
  static T* wide(Block block) { return reinterpret_cast<T*>(block); }
  static Half* narrow(Block block) { return static_cast<Half*>(at(block)); }
  static std::size_t bytes_of(Block block, std::size_t count) {
    return block == kNone ? 0 : count * (is_narrow(block) ? sizeof(Half) : sizeof(T));
  }
  static bool equal(const T& left, const T& right) {  // NaN too
    if constexpr (std::is_floating_point_v<T>)
      return std::memcmp(&left, &right, sizeof(T)) == 0;
    else
      return left == right;
  }
  static bool are_all(std::span<const T> values, const T& value) {
    if constexpr (kFolds)
      return std::ranges::all_of(values, [&](const T& each) { return equal(each, value); });
    else
      return false;
  }
  /// True if a column without rows of its own stays so with this value.
  bool fits(const T& value) const {
    if constexpr (kFolds)
      return size_ == 0 || equal(value, same_);
    else
      return false;
  }
  static bool fits_half(const T& value) {
    if constexpr (kNarrows)
      return value == static_cast<Half>(value);
    else
      return false;
  }
  static bool all_fit_half(std::span<const T> values) {
    bool fit = true;
    for (const T& value : values) fit &= fits_half(value);
    return fit;
  }
  /// True if what is there fits into 32 bits.
  bool may_be_narrow() const {
    if constexpr (!kNarrows) return false;
    const Block now = block();
    return now != kNone ? is_narrow(now) : size_ == 0 || fits_half(same_);
  }

  /// Into a column without rows of its own, without room, or too narrow.
  [[gnu::noinline]] void push_back_otherwise(T value) {
    if (block() == kNone && fits(value)) {
      same_ = value;
      ++size_;
      return;
    }
    if constexpr (kNarrows)
      if (may_be_narrow() && fits_half(value)) {
        make_room<Half>(1)[size_++] = static_cast<Half>(value);
        return;
      }
    make_room<T>(1)[size_++] = value;
  }
  /// The rows as these, with room for more of them. As Half only where what is there may be narrow.
  template <class As>
  As* make_room(std::size_t more) {
    const std::size_t need = size_ + more;
    const Block now = block();
    if (now == kNone) {
      capacity_ = std::max({capacity_, need, std::size_t{16}});
      unfold<As>();
    } else if (need > capacity_) {
      // Pages that stay untouched cost nothing, each move of those in use does.
      const bool large = bytes_of(now, capacity_) >= kOwnPages;
      reserve(std::max(need, large ? 4 * capacity_ : capacity_ + capacity_ / 2));
    }
    if (std::is_same_v<As, T> && is_narrow(block())) {
      widen();
      forget_replaced();
    }
    return static_cast<As*>(at(block()));
  }
  /// For those who write, alone.
  [[gnu::always_inline]] T* unfolded() {
    T* const rows = opened();
    if (replaced_) forget_replaced();
    return rows;
  }
  const T* unfolded() const { return const_cast<Column*>(this)->opened(); }
  /// The rows as they are wide. Several readers may come at once.
  [[gnu::always_inline]] T* opened() {
    const Block now = block();
    return now != kNone && !is_narrow(now) ? wide(now) : opened_now();
  }
  [[gnu::noinline]] T* opened_now() {
    const Block now = block();
    if (size_ == 0 || (now != kNone && !is_narrow(now))) return static_cast<T*>(at(now));
    const std::lock_guard lock(unfolding());
    if (block() == kNone) {
      capacity_ = std::max(capacity_, size_);
      unfold<T>();
    } else if (is_narrow(block())) {
      widen();
    }
    return wide(block());
  }
  template <class As>
  void unfold() {
    As* const rows = static_cast<As*>(grow(nullptr, 0, capacity_ * sizeof(As)));
    std::fill(rows, rows + size_, static_cast<As>(same_));
    publish(rows, !std::is_same_v<As, T>);
  }
  /// The narrow rows stay: others may be reading them.
  void widen() {
    const Block now = block();
    T* const rows = static_cast<T*>(grow(nullptr, 0, capacity_ * sizeof(T)));
    if constexpr (kNarrows) std::copy_n(narrow(now), size_, rows);
    replaced_ = at(now);
    replaced_bytes_ = bytes_of(now, capacity_);
    publish(rows, false);
  }
  void forget_replaced() { give_back(std::exchange(replaced_, nullptr), replaced_bytes_); }
  void move_to(Block now, std::size_t count) {
    const std::size_t each = is_narrow(now) ? sizeof(Half) : sizeof(T);
    publish(grow(at(now), bytes_of(now, capacity_), count * each), is_narrow(now));
  }
  void publish(void* rows, bool narrow) {
    block_.store(reinterpret_cast<Block>(rows) | (narrow ? kNarrowBit : 0),
                 std::memory_order_release);
  }
  void swap(Column& other) noexcept {
    block_ = other.block_.exchange(block());
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(same_, other.same_);
    std::swap(replaced_, other.replaced_);
    std::swap(replaced_bytes_, other.replaced_bytes_);
  }

  std::atomic<Block> block_ = kNone;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  // of the block, or what it shall have
  T same_{};
  void* replaced_ = nullptr;  // the narrow block that a wide one took the place of
  std::size_t replaced_bytes_ = 0;
};

}  // namespace gf
