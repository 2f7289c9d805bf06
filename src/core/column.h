// A growable array for the capture's tables. Growth goes through realloc, which moves pages instead
// of copying them, and pages never touched cost no memory: a table of millions of rows peaks at its
// own size.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace gf {

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  Column() = default;
  Column(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }
  Column(Column&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Column(const Column& other) { append(other.span()); }
  Column& operator=(Column other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Column() { std::free(data_); }

  void push_back(T value) {
    if (size_ == capacity_) reserve(capacity_ < 16 ? 16 : capacity_ + capacity_ / 2);
    data_[size_++] = value;
  }
  void append(std::span<const T> values) {
    if (values.empty()) return;
    std::memcpy(static_cast<void*>(extend(values.size()).data()), values.data(),
                values.size_bytes());
  }
  /// Makes room for so many more values, which the caller writes.
  std::span<T> extend(std::size_t count) {
    const std::size_t need = size_ + count;
    if (need > capacity_)
      reserve(need > capacity_ + capacity_ / 2 ? need : capacity_ + capacity_ / 2);
    return {data_ + std::exchange(size_, need), count};
  }
  void reserve(std::size_t size) {
    if (size <= capacity_) return;
    void* block = std::realloc(static_cast<void*>(data_), size * sizeof(T));
    if (!block) throw std::bad_alloc();
    data_ = static_cast<T*>(block);
    capacity_ = size;
  }
  void resize(std::size_t size, T fill = T{}) {
    reserve(size);
    for (std::size_t i = size_; i < size; ++i) data_[i] = fill;
    size_ = size;
  }
  void clear() { size_ = 0; }
  void shrink_to_fit() {
    if (size_ == capacity_ || size_ == 0) return;
    if (void* block = std::realloc(static_cast<void*>(data_), size_ * sizeof(T))) {
      data_ = static_cast<T*>(block);
      capacity_ = size_;
    }
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace gf
