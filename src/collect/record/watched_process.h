// A process that is not ours: whether it still runs, without mistaking another with its number.
#pragma once

#include <sys/types.h>

#include <utility>

#include "core/error.h"

namespace gf {

class WatchedProcess {
 public:
  /// Error: there is no such process.
  static Result<WatchedProcess> open(pid_t pid);
  WatchedProcess(WatchedProcess&& other) noexcept
      : pid_(other.pid_), fd_(std::exchange(other.fd_, -1)) {}
  WatchedProcess& operator=(WatchedProcess&&) = delete;
  ~WatchedProcess();
  bool ended() const;

 private:
  WatchedProcess(pid_t pid, int fd) : pid_(pid), fd_(fd) {}
  pid_t pid_;
  int fd_;  // -1: the kernel is too old for it
};

}  // namespace gf
