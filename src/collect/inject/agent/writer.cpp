#include "collect/inject/agent/writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace gf::inject {

namespace {
constexpr std::size_t kBatch = 256 << 10, kMostTexts = 65536, kLongestText = 64 << 10;
}

std::int64_t setting(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoll(text, nullptr, 10) : fallback;
}

std::uint64_t now_ns() {
  static const std::int64_t offset = setting(kClockOffset, 0);
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 +
                                    t.tv_nsec + offset);
}

Writer& Writer::instance() {
  // Never destroyed: threads of the driver may still write while the program ends.
  static Writer* writer = [] {
    auto* w = new Writer;
    std::atexit(
        [] { Writer::instance().flush(true); });  // ranges of a program that never uses CUDA
    pthread_atfork([] { Writer::instance().before_fork(); },
                   [] { Writer::instance().after_fork_in_parent(); },
                   [] { Writer::instance().after_fork_in_child(); });
    return w;
  }();
  return *writer;
}

Writer::Writer() : most_(static_cast<std::uint64_t>(setting(kMost, std::int64_t{4} << 30))) {
  buffer_.reserve(2 * kBatch);
}

void Writer::after_fork_in_child() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  buffer_.clear();
  written_ = lost_ = 0;
  failed_ = full_ = false;
  mutex_.unlock();
}

bool Writer::open() {
  const char* directory = std::getenv(kDirectory);
  if (!directory || failed_) return false;
  path_ = std::string(directory) + "/" + std::to_string(getpid()) + ".rec";
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  struct stat s{};
  failed_ = fd_ < 0 || ::fstat(fd_, &s) != 0;
  if (failed_) return false;
  size_ = s.st_size;
  repeat_texts();
  const Hello hello{kVersion, getpid()};
  const Head head{Type::hello, sizeof hello};
  std::string first(reinterpret_cast<const char*>(&head), sizeof head);
  first.append(reinterpret_cast<const char*>(&hello), sizeof hello);
  buffer_.insert(0, first);
  return true;
}

/// Puts all texts in front of the next batch: a forked child's file has none of them, and a full
/// disk may have cost some.
void Writer::repeat_texts() {
  std::string all;
  for (const auto& [text, id] : texts_) {
    const TextHead record{id, 0};
    const Head head{Type::text, static_cast<std::uint32_t>(sizeof record + text.size())};
    all.append(reinterpret_cast<const char*>(&head), sizeof head);
    all.append(reinterpret_cast<const char*>(&record), sizeof record);
    all.append(text);
  }
  buffer_.insert(0, all);
}

/// The recorder holds a lock while it lives (kRecorderFile). Without it nobody will read this file,
/// or remove it.
void Writer::look_for_recorder() {
  const auto now = static_cast<std::int64_t>(now_ns());
  if (now - looked_ < 1'000'000'000) return;
  looked_ = now;
  const char* directory = std::getenv(kDirectory);
  if (!directory) return;
  const std::string lock = std::string(directory) + "/" + kRecorderFile;
  const int fd = ::open(lock.c_str(), O_RDONLY | O_CLOEXEC);
  abandoned_ = fd < 0 ? errno == ENOENT : ::flock(fd, LOCK_SH | LOCK_NB) == 0;
  if (fd >= 0) ::close(fd);
  if (!abandoned_) return;
  failed_ = full_ = true;
  if (fd_ >= 0) ::close(fd_), ::unlink(path_.c_str());
  fd_ = -1;
  ::unlink(lock.c_str());
  ::rmdir(directory);  // the last agent to leave succeeds
}

void Writer::append(Type type, const void* record, std::size_t bytes, std::string_view tail) {
  if (failed_ || full_) return;
  const Head head{type, static_cast<std::uint32_t>(bytes + tail.size())};
  buffer_.append(reinterpret_cast<const char*>(&head), sizeof head);
  buffer_.append(static_cast<const char*>(record), bytes);
  buffer_.append(tail);
  if (buffer_.size() >= kBatch) write_out();
}

void Writer::write_out() {
  look_for_recorder();
  if (buffer_.empty() || failed_ || (fd_ < 0 && !open())) {
    buffer_.clear();
    return;
  }
  if (lost_ > 0) {  // perhaps there is room again
    const std::string text = "the disk was full: " + std::to_string(lost_ >> 10) +
                             " kB of records of kernels and ranges are lost";
    const Head head{Type::message, static_cast<std::uint32_t>(text.size())};
    buffer_.insert(0, std::string(reinterpret_cast<const char*>(&head), sizeof head) + text);
    repeat_texts();
  }
  std::string_view left(buffer_);
  while (!left.empty()) {
    const auto n = ::write(fd_, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  if (left.empty()) {
    size_ += static_cast<std::int64_t>(buffer_.size());
    written_ += buffer_.size();
    lost_ = 0;
    full_ = written_ >= most_;
  } else {  // no half batch stays: the reader would wait for the rest of its last record
    failed_ = ::ftruncate(fd_, size_) != 0;
    lost_ += buffer_.size();
  }
  buffer_.clear();
}

std::uint32_t Writer::text(std::string_view text) {
  if (text.size() > kLongestText) return 0;
  std::lock_guard lock(mutex_);
  const auto [it, added] =
      texts_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size() + 1));
  if (!added) return it->second;
  if (texts_.size() > kMostTexts) {
    texts_.erase(it);
    return 0;
  }
  const TextHead head{it->second, 0};
  append(Type::text, &head, sizeof head, text);
  return it->second;
}

void Writer::message(std::string_view text) {
  std::lock_guard lock(mutex_);
  append(Type::message, "", 0, text);
}

void Writer::flush(bool last) {
  std::lock_guard lock(mutex_);
  if (last) looked_ = 0;
  write_out();
}

}  // namespace gf::inject
