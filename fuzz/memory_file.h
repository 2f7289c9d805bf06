// A file that lives in memory only, for entry points that take a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gf::fuzz {

class MemoryFile {
 public:
  MemoryFile()
      : fd_(memfd_create("fuzz", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(fd_)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(fd_); }

  /// Replaces the content; the path stays the same.
  void fill(const std::uint8_t* data, std::size_t size) {
    if (ftruncate(fd_, 0) != 0) return;
    for (std::size_t at = 0; at < size;) {
      const ssize_t written = pwrite(fd_, data + at, size - at, static_cast<off_t>(at));
      if (written <= 0) return;
      at += static_cast<std::size_t>(written);
    }
  }
  const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

}  // namespace gf::fuzz
