// Values as bytes and back, exactly, for a program that reads what the same program wrote: no
// version, no names, little-endian. Reading checks every length and every enumerator: false for
// bytes that are none of these values.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/describe.h"

namespace gf {

class Packer {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
    requires std::is_enum_v<T>
  void put(T value) {
    put(static_cast<std::underlying_type_t<T>>(value));
  }
  void put(std::string_view text) {
    put(std::uint64_t{text.size()});
    bytes_ += text;
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(std::uint64_t{values.size()});
    for (const T& value : values) put(value);
  }
  template <Described T>
  void put(const T& object) {
    each_field(object, [&](const char*, const auto& value, const char*) { put(value); });
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// `Names<E>::names` are the names of the enumeration E, one a value.
template <template <class> class Names>
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  /// The bytes that are not read yet.
  std::string_view rest() const { return bytes_; }

  bool get(bool& value) {
    std::uint8_t byte = 0;
    if (!get(byte) || byte > 1) return false;
    value = byte == 1;
    return true;
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  bool get(T& value) {
    if (bytes_.size() < sizeof value) return false;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return true;
  }
  template <class T>
    requires std::is_enum_v<T>
  bool get(T& value) {
    std::underlying_type_t<T> number{};
    if (!get(number) || !std::in_range<std::size_t>(number) ||
        static_cast<std::size_t>(number) >= Names<T>::names.size())
      return false;
    value = static_cast<T>(number);
    return true;
  }
  bool get(std::string& text) {
    std::uint64_t size = 0;
    if (!get(size) || size > bytes_.size()) return false;
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }
  template <class T>
  bool get(std::optional<T>& value) {
    bool there = false;
    value.reset();
    return get(there) && (!there || get(value.emplace()));
  }
  template <class T>
  bool get(std::vector<T>& values) {
    std::uint64_t size = 0;
    values.clear();
    if (!get(size) || size > bytes_.size()) return false;  // each takes a byte at least
    for (std::uint64_t i = 0; i < size; ++i)
      if (T value{}; get(value))
        values.push_back(std::move(value));
      else
        return false;
    return true;
  }
  template <Described T>
  bool get(T& object) {
    bool whole = true;
    T::fields([&](const char*, auto member, const char*) { whole = whole && get(object.*member); });
    return whole;
  }

 private:
  std::string_view bytes_;
};

}  // namespace gf
