// The agent's file: records gathered in memory, appended with one write a batch.
#pragma once

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
  /// The number of a text, written before its first use. Bounded: past 65536 texts all new ones are number 0, "".
  std::uint32_t text(std::string_view text);
  void message(std::string_view text);
  void flush();
  /// Bytes written so far reached the bound: nothing more is taken.
  bool full() const { return full_; }
  /// In a forked child: forgets the parent's file and begins its own when used.
  void forget();

 private:
  Writer();
  void append(Type type, const void* record, std::size_t bytes, std::string_view tail);
  void write_out();
  bool open();
  std::mutex mutex_;
  std::string buffer_;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::uint64_t written_ = 0, most_;
  int fd_ = -1;
  bool failed_ = false, full_ = false;
};

/// Nanoseconds since 1970 on the recorder's clock.
std::uint64_t now_ns();
std::int64_t setting(const char* name, std::int64_t fallback);

}  // namespace gf::inject
