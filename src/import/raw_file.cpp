#include "import/raw_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace gf {

namespace {

constexpr std::size_t kBuffer = 256 << 10;

Error from_errno(const char* doing, const std::string& path) {
  return {std::string(doing) + ": " + std::strerror(errno), path, -1, {}};
}

/// read() that survives interruptions; -1 on error.
ssize_t read_some(int fd, char* to, std::size_t count) {
  ssize_t got;
  do got = ::read(fd, to, std::min<std::size_t>(count, 1 << 30));
  while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace

Result<RawFile> RawFile::open(const std::string& path) {
  if (path.empty()) return fail("the name of a file is empty");
  RawFile file;
  file.path_ = path;
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
  file.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.fd_ < 0) {
    if (errno == ENOENT) return fail("no such file", path);
    if (errno == EACCES)
      return fail("permission denied", path, -1, "make it readable for this user");
    return tl::unexpected(from_errno("cannot be opened", path));
  }
  struct stat status;
  if (::fstat(file.fd_, &status) != 0)
    return tl::unexpected(from_errno("cannot be examined", path));
  if (S_ISDIR(status.st_mode)) return fail("is a directory", path, -1, "name one file in it");
  if (!S_ISREG(status.st_mode))
    return fail("is a pipe or device, not a regular file", path, -1, "write it to a file first");
  if (status.st_size == 0)
    return fail("is empty", path, -1,
                "the program that wrote it may have failed or may still be running");
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  file.buffer_ = std::make_unique_for_overwrite<char[]>(kBuffer);
  ::posix_fadvise(file.fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
  return file;
}

RawFile::RawFile(RawFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      read_(other.read_),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_) {}

RawFile& RawFile::operator=(RawFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  std::swap(read_, other.read_);
  std::swap(buffer_, other.buffer_);
  std::swap(begin_, other.begin_);
  std::swap(end_, other.end_);
  return *this;
}

RawFile::~RawFile() {
  if (fd_ >= 0) ::close(fd_);
}

Status RawFile::fill(std::size_t want) {
  want = std::min(want, kBuffer);
  if (end_ - begin_ >= want) return {};
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  while (end_ < want) {
    const ssize_t got = read_some(fd_, buffer_.get() + end_, kBuffer - end_);
    if (got < 0) return tl::unexpected(from_errno("cannot be read", path_));
    if (got == 0) break;
    end_ += static_cast<std::size_t>(got);
    read_ += static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<std::size_t> RawFile::read(char* to, std::size_t count) {
  std::size_t done = std::min(count, end_ - begin_);
  std::memcpy(to, buffer_.get() + begin_, done);
  begin_ += done;
  while (done < count) {
    const ssize_t got = read_some(fd_, to + done, count - done);
    if (got < 0) return tl::unexpected(from_errno("cannot be read", path_));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
    read_ += static_cast<std::uint64_t>(got);
  }
  return done;
}

}  // namespace gf
