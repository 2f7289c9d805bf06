#include "import/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

namespace gf {

namespace {

/// What is mapped now, as the signal handler sees it.
struct Mapping {
  std::atomic<const char*> begin{nullptr};
  std::atomic<const char*> end{nullptr};
  std::atomic<bool> cut{false};
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
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace gf
