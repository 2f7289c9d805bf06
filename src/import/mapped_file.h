// A whole file as memory, for formats that are parsed in place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/error.h"

namespace gf {

/// Another program may cut the file short while it is read: what is gone reads as zeros, and cut()
/// says so. For that, SIGBUS is listened to while any file is mapped; a SIGBUS of another kind goes
/// where it went before.
class MappedFile {
 public:
  /// Errors: missing, not readable, a directory, not a regular file, empty.
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }
  /// Whether a part of it was gone when it was read.
  bool cut() const;
  /// Says that a part of bytes() is done with: its pages stop counting as this process's memory. It
  /// stays readable.
  static void release(std::string_view part);

 private:
  MappedFile(const char* data, std::size_t size) : data_(data), size_(size) {}
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gf
