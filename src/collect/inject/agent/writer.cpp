#include "collect/inject/agent/writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <utility>

#include "collect/inject/agent/guard.h"

namespace gf::inject {

namespace {

constexpr std::size_t kBatch = 256 << 10, kLongestText = 64 << 10, kMostVital = 64 << 10;
// A program has as many kernels and calls as it was built with, or compiles; ranges may have a new
// name each.
constexpr std::size_t kMostRanges = 65536, kMostNames = (1 << 20) - kMostRanges;  // as read

alignas(Writer) constinit unsigned char storage[sizeof(Writer)]{};

/// Records without which the others cannot be read, or of what is lost: a full disk costs none, and
/// no bound holds for them.
bool vital(Type type) {
  switch (type) {
    case Type::window:
    case Type::device:
    case Type::dropped:
    case Type::loss:
    case Type::message:
      return true;
    default:
      return false;
  }
}

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
  ledger_->closed = 1;
  after_fork_in_child();
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
  process_was_copied();
  let_go();
  ledger_.close();
  buffer_.clear();
  vital_.clear();
  batch_ = 0;
  torn_ = greeted_ = false;
  written_ = lost_to_disk_ = lost_to_memory_ = names_.nameless = ranges_.nameless = 0;
  failed_ = full_ = false;
}

/// Keeps the rest of a batch that could not be written: the next one begins with it.
void Writer::lose_batch(std::uint64_t& lost) {
  lost += batch_;
  batch_ = 0;
  torn_ = true;
  buffer_ = vital_;
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

std::string Writer::counts_path() const {
  return std::string(settings.directory) + "/" + std::to_string(process_) + kLedgerSuffix;
}

bool Writer::open() {
  if (failed_) return false;
  const bool again = process_ == getpid();  // the program closed our descriptor
  process_ = getpid();
  path_ = std::string(settings.directory) + "/" + std::to_string(process_) + kRecordsSuffix;
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd_ >= 0) fd_ = out_of_the_way(fd_);
  struct stat status{};
  failed_ = fd_ < 0 || ::fstat(fd_, &status) != 0 || (again && status.st_ino != inode_);
  if (failed_) return false;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  size_ = status.st_size;
  if (again) return true;
  ledger_.open(counts_path());
  greeted_ = false;
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
  abandoned_ = fd < 0 ? errno == ENOENT : ::flock(fd, LOCK_SH | LOCK_NB) == 0;
  if (fd >= 0) ::close(fd);
  if (!abandoned_) return;
  failed_ = full_ = true;
  if (still_ours()) {
    ::unlink(path_.c_str());
    ::unlink(counts_path().c_str());
  }
  let_go();
  ::unlink(lock.c_str());
  ::unlink((std::string(settings.directory) + "/" + kControlFile).c_str());
  ::rmdir(settings.directory);  // the last agent to leave succeeds
  const std::string_view folder(settings.directory);
  const std::string parent(folder.substr(0, folder.rfind('/')));
  if (parent.find(kFolderName) != parent.npos) ::rmdir(parent.c_str());
}

void Writer::append(Type type, const void* record, std::size_t bytes, std::string_view tail) {
  if (failed_ || !recorded() || (full_ && !vital(type))) return;
  const Head head{type, static_cast<std::uint32_t>(bytes + tail.size())};
  const std::size_t size = buffer_.size() + sizeof head + bytes + tail.size();
  if (size > buffer_.capacity() && !memory_for(2 * size)) {
    if (in_ledger(type)) ++lost_to_memory_;
    return;
  }
  if (in_ledger(type)) ++batch_;
  const auto add = [&](std::string& to) {
    to.append(reinterpret_cast<const char*>(&head), sizeof head);
    to.append(static_cast<const char*>(record), bytes);
    to.append(tail);
  };
  add(buffer_);
  if (vital(type) && vital_.size() < kMostVital) add(vital_);
  if (buffer_.size() >= kBatch) write_out();
}

/// Puts before a batch what could not be kept, once there is room to say so, and whose file it is.
void Writer::begin_batch() {
  std::string told;
  auto tell = [&](Type type, const void* record, std::size_t bytes) {
    const Head head{type, static_cast<std::uint32_t>(bytes)};
    told.append(reinterpret_cast<const char*>(&head), sizeof head);
    told.append(static_cast<const char*>(record), bytes);
  };
  const auto lose = [&](LossKind kind, std::uint64_t count) {
    const Loss loss{static_cast<std::uint32_t>(kind), 0, count};
    if (count > 0) tell(Type::loss, &loss, sizeof loss);
  };
  lose(LossKind::names, std::exchange(ranges_.nameless, 0));
  lose(LossKind::kernel_names, std::exchange(names_.nameless, 0));
  lose(LossKind::memory, lost_to_memory_);
  lose(LossKind::disk, lost_to_disk_);
  if (lost_to_disk_ > 0) {
    const std::string text =
        "the disk was full, or a file may not grow: " + std::to_string(lost_to_disk_) +
        " records of kernels, calls and ranges are lost";
    tell(Type::message, text.data(), text.size());
  }
  buffer_.insert(0, told);
  if (torn_ || !greeted_) repeat_texts();
  if (greeted_) return;
  const Hello hello{kVersion, process_};
  const Head head{Type::hello, sizeof hello};
  std::string first(reinterpret_cast<const char*>(&head), sizeof head);
  first.append(reinterpret_cast<const char*>(&hello), sizeof hello);
  buffer_.insert(0, first);
}

void Writer::write_out() {
  if (!recorded()) return;
  const SignalsHeld held;
  if (!memory_for(2 * (buffer_.size() + text_bytes_))) {  // the program runs out of it
    lose_batch(lost_to_memory_);
    return;
  }
  look_for_recorder();
  if (fd_ >= 0 && process_ != getpid()) after_fork_in_child();  // a copy made without fork()
  if (fd_ >= 0 && !still_ours()) fd_ = -1;
  if (buffer_.empty() || failed_ || (fd_ < 0 && !open())) {
    buffer_.clear();
    batch_ = 0;
    return;
  }
  begin_batch();
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
    lost_to_disk_ = lost_to_memory_ = 0;
    greeted_ = true;
    torn_ = false;
    full_ = written_ >= settings.most_bytes;
    buffer_.clear();
    vital_.clear();
    batch_ = 0;
  } else {  // no half batch stays: the reader would wait for the rest of its last record
    failed_ = !still_ours() || ::ftruncate(fd_, size_) != 0;
    lose_batch(lost_to_disk_);
  }
}

void Writer::put_bytes(Type type, const void* record, std::size_t bytes) {
  const Inside inside;
  if (!inside) return;
  if (recorded() && !full_ && in_ledger(type)) {
    ++ledger_->records;
    if (type == Type::kernel) ++ledger_->kernels;
    if (type == Type::api) ledger_->launches += static_cast<const Api*>(record)->launch;
  }
  append(type, record, bytes, {});
}

std::uint32_t Writer::text(std::string_view text) { return keep(text, names_, kMostNames); }

std::uint32_t Writer::range_text(std::string_view text) { return keep(text, ranges_, kMostRanges); }

std::uint32_t Writer::keep(std::string_view text, Kept& kept, std::size_t most) {
  const Inside inside;
  if (!inside) return 0;
  if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
  const std::size_t table = 32 * texts_.size();  // if it has to grow
  if (text.size() > kLongestText || kept.count >= most || !memory_for(table + 4 * text.size())) {
    ++kept.nameless;
    return 0;
  }
  ++kept.count;
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
