#include "collect/inject/agent/writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <new>

namespace gf::inject {

namespace {
constexpr std::size_t kBatch = 256 << 10, kMostTexts = 65536;
}

std::int64_t setting(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoll(text, nullptr, 10) : fallback;
}

std::uint64_t now_ns() {
  static const std::int64_t offset = setting(kClockOffset, 0);
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec + offset);
}

Writer& Writer::instance() {
  // Never destroyed: threads of the driver may still write while the program ends.
  static Writer* writer = [] {
    auto* w = new Writer;
    pthread_atfork(nullptr, nullptr, [] { Writer::instance().forget(); });
    return w;
  }();
  return *writer;
}

Writer::Writer() : most_(static_cast<std::uint64_t>(setting(kMost, std::int64_t{4} << 30))) { buffer_.reserve(2 * kBatch); }

void Writer::forget() {
  new (&mutex_) std::mutex;  // the thread that may have held it does not exist in this process
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  buffer_.clear();
  texts_.clear();
  written_ = 0;
  failed_ = full_ = false;
}

bool Writer::open() {
  const char* directory = std::getenv(kDirectory);
  if (!directory || failed_) return false;
  const std::string path = std::string(directory) + "/" + std::to_string(getpid()) + ".rec";
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  failed_ = fd_ < 0;
  if (failed_) return false;
  const Hello hello{kVersion, getpid()};
  const Head head{Type::hello, sizeof hello};
  std::string first(reinterpret_cast<const char*>(&head), sizeof head);
  first.append(reinterpret_cast<const char*>(&hello), sizeof hello);
  buffer_.insert(0, first);
  return true;
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
  if (buffer_.empty() || (fd_ < 0 && !open())) {
    buffer_.clear();
    return;
  }
  std::string_view left(buffer_);
  while (!left.empty()) {
    const auto n = ::write(fd_, left.data(), left.size());
    if (n <= 0) {  // no room: the recording ends here, the program goes on
      failed_ = true;
      break;
    }
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  written_ += buffer_.size();
  full_ = written_ >= most_;
  buffer_.clear();
}

std::uint32_t Writer::text(std::string_view text) {
  std::lock_guard lock(mutex_);
  const auto [it, added] = texts_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size() + 1));
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

void Writer::flush() {
  std::lock_guard lock(mutex_);
  write_out();
}

}  // namespace gf::inject
