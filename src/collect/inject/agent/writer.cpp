#include "collect/inject/agent/writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>

#include "collect/inject/agent/guard.h"
#include "collect/inject/agent/thread.h"

namespace gf::inject {

namespace {

constexpr std::size_t kBatch = 256 << 10, kMostTexts = 65536, kLongestText = 64 << 10;

alignas(Writer) constinit unsigned char storage[sizeof(Writer)]{};

/// A descriptor far from those that the program opens: it may count on their numbers.
int out_of_the_way(int fd) {
  for (const int least : {900, 200, 50}) {
    const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, least);
    if (high < 0) continue;
    ::close(fd);
    return high;
  }
  return fd;
}

}  // namespace

__attribute__((constructor(102))) void make_writer() {
  if (!recorded() && !dormant()) return;
  new (storage) Writer;
  pthread_atfork(&lock_for_fork, &unlock_after_fork, [] {
    Writer::instance().after_fork_in_child();
    unlock_after_fork();
  });
  // Ranges of a program that never uses CUDA.
  std::atexit([] { Writer::instance().flush(true); });
  at_quick_exit([] { Writer::instance().flush(true); });
}

void Writer::begin_anew(const Dormant& wanted, std::uint32_t number) {
  const Inside inside;
  if (!inside) return;
  after_fork_in_child();
  process_ = 0;
  looked_ = 0;
  heartbeat_ = 0;
  abandoned_ = false;
  take_settings(wanted, number);
}

void Writer::end_session() {
  const Inside inside;
  if (!inside) return;
  let_go();
  buffer_.clear();
  buffer_.shrink_to_fit();
  drop_settings();
}

/// Ranges of destructors that ran after the handlers of exit().
__attribute__((destructor(102))) void flush_at_the_very_end() {
  if (recorded()) Writer::instance().flush(true);
}

Writer& Writer::instance() { return *std::launder(reinterpret_cast<Writer*>(storage)); }

Writer::Writer() { buffer_.reserve(2 * kBatch); }

void Writer::after_fork_in_child() {
  let_go();
  buffer_.clear();
  written_ = lost_ = nameless_ = 0;
  failed_ = full_ = false;
}

bool Writer::still_ours() const {
  struct stat status{};
  return fd_ >= 0 && ::fstat(fd_, &status) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

/// Closes the descriptor, unless the program has put something else there.
void Writer::let_go() {
  if (still_ours()) ::close(fd_);
  fd_ = -1;
}

bool Writer::open() {
  if (failed_) return false;
  const bool again = process_ == getpid();  // the program closed our descriptor
  process_ = getpid();
  path_ = std::string(settings.directory) + "/" + std::to_string(process_) + ".rec";
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd_ >= 0) fd_ = out_of_the_way(fd_);
  struct stat status{};
  failed_ = fd_ < 0 || ::fstat(fd_, &status) != 0 || (again && status.st_ino != inode_);
  if (failed_) return false;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  size_ = status.st_size;
  if (again) return true;
  repeat_texts();
  const Hello hello{kVersion, process_};
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
  if (const Control* page = control()) {
    const std::uint64_t beat = page->heartbeat;
    if (beat != heartbeat_) {
      heartbeat_ = beat;
      return;
    }
  }
  const std::string lock = std::string(settings.directory) + "/" + kRecorderFile;
  const int fd = ::open(lock.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    abandoned_ = errno == ENOENT;
  } else {
    abandoned_ = ::flock(fd, LOCK_SH | LOCK_NB) == 0;
  }
  if (fd >= 0) ::close(fd);
  if (!abandoned_) return;
  failed_ = full_ = true;
  if (still_ours()) ::unlink(path_.c_str());
  let_go();
  ::unlink(lock.c_str());
  ::unlink((std::string(settings.directory) + "/" + kControlFile).c_str());
  ::rmdir(settings.directory);  // the last agent to leave succeeds
}

void Writer::append(Type type, const void* record, std::size_t bytes, std::string_view tail) {
  if (failed_ || full_ || !recorded()) return;
  const Head head{type, static_cast<std::uint32_t>(bytes + tail.size())};
  const std::size_t size = buffer_.size() + sizeof head + bytes + tail.size();
  if (size > buffer_.capacity() && !memory_for(2 * size)) {
    lost_ += bytes + tail.size();
    out_of_memory_ = true;
    return;
  }
  buffer_.append(reinterpret_cast<const char*>(&head), sizeof head);
  buffer_.append(static_cast<const char*>(record), bytes);
  buffer_.append(tail);
  if (buffer_.size() >= kBatch) write_out();
}

/// What could not be kept, once there is room to say so.
void Writer::tell_losses() {
  std::string told;
  auto tell = [&](Type type, const void* record, std::size_t bytes) {
    const Head head{type, static_cast<std::uint32_t>(bytes)};
    told.append(reinterpret_cast<const char*>(&head), sizeof head);
    told.append(static_cast<const char*>(record), bytes);
  };
  if (nameless_ > 0) {
    const Loss loss{static_cast<std::uint32_t>(LossKind::names), 0, nameless_};
    tell(Type::loss, &loss, sizeof loss);
    nameless_ = 0;
  }
  if (lost_ > 0 && out_of_memory_) {
    const Loss loss{static_cast<std::uint32_t>(LossKind::memory), 0, lost_};
    tell(Type::loss, &loss, sizeof loss);
    out_of_memory_ = false;
  } else if (lost_ > 0) {
    const std::string text = "the disk was full: " + std::to_string(lost_ >> 10) +
                             " kB of records of kernels and ranges are lost";
    tell(Type::message, text.data(), text.size());
  }
  buffer_.insert(0, told);
  if (lost_ > 0) repeat_texts();
}

void Writer::write_out() {
  if (!recorded()) return;
  const SignalsHeld held;
  if (!memory_for(2 * (buffer_.size() + text_bytes_))) {  // the program runs out of it
    lost_ += buffer_.size();
    out_of_memory_ = true;
    buffer_.clear();
    return;
  }
  look_for_recorder();
  if (fd_ >= 0 && process_ != getpid()) after_fork_in_child();  // a copy made without fork()
  if (fd_ >= 0 && !still_ours()) fd_ = -1;
  if (buffer_.empty() || failed_ || (fd_ < 0 && !open())) {
    buffer_.clear();
    return;
  }
  tell_losses();
  std::string_view left(buffer_);
  while (!left.empty()) {
    const auto written = ::write(fd_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  if (left.empty()) {
    size_ += static_cast<std::int64_t>(buffer_.size());
    written_ += buffer_.size();
    lost_ = 0;
    full_ = written_ >= settings.most_bytes;
  } else {  // no half batch stays: the reader would wait for the rest of its last record
    failed_ = !still_ours() || ::ftruncate(fd_, size_) != 0;
    lost_ += buffer_.size();
  }
  buffer_.clear();
}

void Writer::put_bytes(Type type, const void* record, std::size_t bytes) {
  if (const Inside inside; inside) append(type, record, bytes, {});
}

std::uint32_t Writer::text(std::string_view text) {
  const Inside inside;
  if (!inside) return 0;
  if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
  const std::size_t table = 32 * texts_.size();  // if it has to grow
  if (text.size() > kLongestText || texts_.size() >= kMostTexts ||
      !memory_for(table + 4 * text.size())) {
    ++nameless_;
    return 0;
  }
  const auto id = static_cast<std::uint32_t>(texts_.size() + 1);
  texts_.emplace(std::string(text), id);
  text_bytes_ += text.size() + sizeof(Head) + sizeof(TextHead);
  last_text_ = id;
  const TextHead head{id, 0};
  append(Type::text, &head, sizeof head, text);
  return id;
}

void Writer::message(std::string_view text) {
  if (const Inside inside; inside) append(Type::message, "", 0, text);
}

void Writer::flush(bool last) {
  const Inside inside;
  if (!inside) return;
  if (last) looked_ = 0;
  write_out();
}

}  // namespace gf::inject
