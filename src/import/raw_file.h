// A file read in large blocks, as the decoders want it.
// A whole file as memory, for formats that are parsed in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"

namespace gf {

class RawFile {
 public:
  /// Errors: missing, not readable, a directory, not a regular file, empty.
  static Result<RawFile> open(const std::string& path);
  RawFile(RawFile&& other) noexcept;
  RawFile& operator=(RawFile&& other) noexcept;
  ~RawFile();

  /// Bytes read but not consumed. Empty only at the end of the file (or after an error): call
  /// fill() first.
  std::string_view pending() const { return {buffer_.get() + begin_, end_ - begin_}; }
  /// Reads more behind the pending bytes, until at least `want` are there or the file ends.
  Status fill(std::size_t want = 1);
  void consume(std::size_t count) { begin_ += count; }
  /// Reads past the buffer straight into memory; fewer than n bytes only at the end.
  Result<std::size_t> read(char* to, std::size_t count);
  /// Reads at a place of the file, which moves nothing; several threads may. Fewer than n bytes
  /// only at the end.
  Result<std::size_t> read_at(std::uint64_t place, char* to, std::size_t count) const;
  /// Says that these bytes are wanted soon.
  void ask_for(std::uint64_t place, std::size_t count) const;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // as the file system says
  std::uint64_t position() const { return read_ - (end_ - begin_); }

 private:
  RawFile() = default;
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0, read_ = 0;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0, end_ = 0;
};

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
  /// True if a part of it was gone when it was read.
  bool cut() const;
  /// Says that a part of bytes() is done with: its pages stop counting as this process's memory, as
  /// do those shortly before it; small parts wait for those behind them. All stays readable.
  static void release(std::string_view part);

 private:
  MappedFile(const char* data, std::size_t size) : data_(data), size_(size) {}
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gf
