// The agent's file: records gathered in memory, appended with one write a batch. What a full disk
// had no room for is counted and said when there is room again; when the recorder is gone, its file
// goes too.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "collect/inject/stream.h"

namespace gf::inject {

class Writer {
 public:
  static Writer& instance();

  template <class T>
  void put(Type type, const T& record) {
    std::lock_guard lock(mutex_);
    append(type, &record, sizeof record, {});
  }
  /// The number of a text, written before its first use. Bounded: past 65536 texts all new ones are
  /// number 0, "", and so is what is longer than 64 KiB.
  std::uint32_t text(std::string_view text);
  void message(std::string_view text);
  /// `last`: the process ends, so that a recorder that is gone is seen now or never.
  void flush(bool last = false);
  /// Bytes written so far reached the bound, or nobody reads them: nothing more is taken.
  bool full() const { return full_; }
  bool abandoned() const { return abandoned_; }
  /// Around fork(): no other thread may be inside while the process is copied. A child begins a
  /// file of its own when it is used; texts keep their numbers there.
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child();

 private:
  Writer();
  void append(Type type, const void* record, std::size_t bytes, std::string_view tail);
  void write_out();
  bool open();
  void repeat_texts();
  void look_for_recorder();
  std::mutex mutex_;
  std::string path_, buffer_;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::uint64_t written_ = 0, most_, lost_ = 0;  // bytes
  std::int64_t size_ = 0, looked_ = 0;
  int fd_ = -1;
  bool failed_ = false;
  std::atomic<bool> full_{false}, abandoned_{false};  // read without the mutex
};

/// Nanoseconds since 1970 on the recorder's clock.
std::uint64_t now_ns();
std::int64_t setting(const char* name, std::int64_t fallback);

}  // namespace gf::inject
