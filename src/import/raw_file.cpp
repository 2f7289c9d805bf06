#include "import/raw_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
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
    if (errno == ENOENT && path.find("://") != path.npos)
      return fail("is a URL, and only files are read", path, -1,
                  "download it first, such as with curl -LO");
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

Result<std::size_t> RawFile::read_at(std::uint64_t place, char* to, std::size_t count) const {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = ::pread(fd_, to + done, std::min<std::size_t>(count - done, 1 << 30),
                                static_cast<off_t>(place + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(from_errno("cannot be read", path_));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void RawFile::ask_for(std::uint64_t place, std::size_t count) const {
  ::posix_fadvise(fd_, static_cast<off_t>(place), static_cast<off_t>(count), POSIX_FADV_WILLNEED);
}

namespace {

/// The current mapping, as the signal handler sees it.
struct Mapping {
  std::atomic<const char*> begin{nullptr};
  std::atomic<const char*> end{nullptr};
  std::atomic<bool> cut{false};
  std::atomic<std::size_t> done{0};  // bytes that were done with since pages were last given back
};
std::array<Mapping, 64> mappings;
std::mutex counting;
int mapped = 0;  // guarded by `counting`
struct sigaction before{};

Mapping* mapping_of(const char* address) {
  for (auto& mapping : mappings)
    if (const char* begin = mapping.begin; begin && address >= begin && address < mapping.end)
      return &mapping;
  return nullptr;
}

/// A page of the file is gone: zeros take its place. Runs in the signal; nothing but system calls.
void fill_page(int, siginfo_t* info, void*) {
  const int error = errno;
  auto* address = static_cast<char*>(info->si_addr);
  Mapping* mapping = mapping_of(address);
  if (!mapping) {
    ::sigaction(SIGBUS, &before, nullptr);  // the instruction runs again, and ends there
    return;
  }
  mapping->cut = true;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto* start = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(address) / page * page);
  ::mmap(start, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  errno = error;
}

/// False when too many files are mapped already.
bool listen(const char* data, std::size_t size) {
  const std::lock_guard lock(counting);
  for (auto& mapping : mappings) {
    if (mapping.begin) continue;
    if (mapped++ == 0) {
      struct sigaction action{};
      action.sa_sigaction = fill_page;
      action.sa_flags = SA_SIGINFO;
      ::sigaction(SIGBUS, &action, &before);
    }
    mapping.cut = false;
    mapping.end = data + size;
    mapping.begin = data;
    return true;
  }
  return false;
}

void stop_listening(const char* data) {
  const std::lock_guard lock(counting);
  mapping_of(data)->begin = nullptr;
  if (--mapped == 0) ::sigaction(SIGBUS, &before, nullptr);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(std::string("cannot be opened: ") + std::strerror(errno), path);
  struct stat st{};
  if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
    const bool directory = S_ISDIR(st.st_mode), regular = S_ISREG(st.st_mode);
    ::close(fd);
    return fail(directory ? "is a directory"
                : regular ? "is empty"
                          : "is not a regular file",
                path);
  }
  void* at = ::mmap(nullptr, static_cast<std::size_t>(st.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  const int error = errno;
  ::close(fd);
  if (at == MAP_FAILED) return fail(std::string("cannot be mapped: ") + std::strerror(error), path);
  const auto* data = static_cast<const char*>(at);
  const auto size = static_cast<std::size_t>(st.st_size);
  if (!listen(data, size)) {
    ::munmap(at, size);
    return fail("cannot be mapped: too many files are open", path);
  }
  return MappedFile(data, size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!data_) return;
  stop_listening(data_);
  ::munmap(const_cast<char*>(data_), size_);
}

bool MappedFile::cut() const {
  const Mapping* mapping = data_ ? mapping_of(data_) : nullptr;
  return mapping && mapping->cut;
}

void MappedFile::release(std::string_view part) {
  // Asking the system for each of many small parts would take longer than reading them.
  constexpr std::size_t kAtOnce = 256 << 10;
  Mapping* const mapping = mapping_of(part.data());
  if (!mapping || mapping->done.fetch_add(part.size()) + part.size() < kAtOnce) return;
  mapping->done = 0;
  // Linux maps what its cache holds in one piece at once, which may begin in an earlier part.
  constexpr std::uintptr_t kPiece = 2 << 20;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto at = [](const char* byte) { return reinterpret_cast<std::uintptr_t>(byte); };
  const auto begin = std::max(at(mapping->begin) + kPiece, at(part.data())) - kPiece;
  const auto end = at(part.data() + part.size()) / page * page;
  if (begin / page * page < end)
    ::madvise(reinterpret_cast<void*>(begin / page * page), end - begin / page * page,
              MADV_DONTNEED);
}

}  // namespace gf
