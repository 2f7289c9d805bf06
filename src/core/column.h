// A growable array for the capture's tables. A column whose rows are all the same holds that value
// once ("folded"): most captures leave many columns unsaid, and those cost neither memory nor time.
// Large blocks are the system's own pages: growth moves pages instead of copying them, and pages
// never touched cost no memory, so that a table of millions of rows peaks at its own size.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
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

/// Held while a column unfolds under readers.
inline std::mutex& unfolding() {
  static std::mutex mutex;
  return mutex;
}

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr bool kFolds = std::is_arithmetic_v<T> || std::is_enum_v<T>;

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
  ~Column() { give_back(block(), capacity_ * sizeof(T)); }

  void push_back(T value) {
    if (T* const rows = block(); rows && size_ < capacity_)
      rows[size_++] = value;
    else
      push_back_folded(value);
  }
  void append(std::span<const T> values) {
    if (values.empty()) return;
    if (!block() && fits(values[0]) && are_all(values, values[0])) {
      same_ = values[0];
    } else {
      std::memcpy(static_cast<void*>(make_room(values.size()) + size_), values.data(),
                  values.size_bytes());
    }
    size_ += values.size();
  }
  /// Makes room for so many more values, which the caller writes.
  std::span<T> extend(std::size_t count) {
    T* const rows = make_room(count);
    return {rows + std::exchange(size_, size_ + count), count};
  }
  void append(const Column& other) {
    if (other.folded())
      resize(size_ + other.size_, other.same_);
    else
      append(other.span());
  }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    if (T* const rows = block(); rows || !kFolds)
      block_ = static_cast<T*>(grow(rows, capacity_ * sizeof(T), count * sizeof(T)));
    capacity_ = count;
  }
  void resize(std::size_t count, T fill = T{}) {
    if (count > size_) {
      if (!block() && fits(fill)) {
        same_ = fill;
      } else {
        T* const rows = make_room(count - size_);
        std::fill(rows + size_, rows + count, fill);
      }
    }
    size_ = count;
  }
  void clear() { size_ = 0; }
  void shrink_to_fit() {
    if (size_ == capacity_ || size_ == 0 || !block()) return;
    block_ = static_cast<T*>(grow(block(), capacity_ * sizeof(T), size_ * sizeof(T)));
    capacity_ = size_;
  }
  /// Every value becomes apply(value); one call for all rows of a folded column.
  template <class F>
  void transform(F&& apply) {
    if (folded())
      same_ = apply(same_);
    else
      for (std::size_t i = 0; i < size_; ++i) block()[i] = apply(block()[i]);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Whether one value stands for all rows. Writing through the members below unfolds.
  bool folded() const { return size_ > 0 && !block(); }
  T* data() { return unfolded(); }
  const T* data() const { return unfolded(); }
  T& operator[](std::size_t i) { return unfolded()[i]; }
  const T& operator[](std::size_t i) const {
    const T* const rows = block();
    return rows ? rows[i] : same_;
  }
  T& back() { return unfolded()[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }
  T* begin() { return unfolded(); }
  T* end() { return unfolded() + size_; }
  const T* begin() const { return unfolded(); }
  const T* end() const { return unfolded() + size_; }
  std::span<const T> span() const { return {unfolded(), size_}; }

 private:
  T* block() const { return block_.load(std::memory_order_acquire); }
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
  /// Whether a column without rows of its own stays so with this value.
  bool fits(const T& value) const {
    if constexpr (kFolds)
      return size_ == 0 || equal(value, same_);
    else
      return false;
  }

  /// Into a column without rows of its own, or without room.
  [[gnu::noinline]] void push_back_folded(T value) {
    if (!block() && fits(value)) {
      same_ = value;
      ++size_;
    } else {
      make_room(1)[size_++] = value;
    }
  }
  /// The rows, with room for more of them.
  T* make_room(std::size_t more) {
    const std::size_t need = size_ + more;
    if (!block()) {
      capacity_ = std::max({capacity_, need, std::size_t{16}});
      unfold();
    } else if (need > capacity_) {
      // Pages that stay untouched cost nothing, each move of those in use does.
      const bool large = capacity_ * sizeof(T) >= kOwnPages;
      reserve(std::max(need, large ? 4 * capacity_ : capacity_ + capacity_ / 2));
    }
    return block();
  }
  /// Several readers may come at once.
  T* unfolded() {
    if (folded()) {
      const std::lock_guard lock(unfolding());
      if (!block()) {
        capacity_ = std::max(capacity_, size_);
        unfold();
      }
    }
    return block();
  }
  const T* unfolded() const { return const_cast<Column*>(this)->unfolded(); }
  void unfold() {
    T* const rows = static_cast<T*>(grow(nullptr, 0, capacity_ * sizeof(T)));
    std::fill(rows, rows + size_, same_);
    block_.store(rows, std::memory_order_release);
  }
  void swap(Column& other) noexcept {
    block_ = other.block_.exchange(block());
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(same_, other.same_);
  }

  std::atomic<T*> block_ = nullptr;  // null: folded, or without rows
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  // of the block, or what it shall have
  T same_{};
};

}  // namespace gf
