// Signals while a program is recorded: those that end or inform a program go to it, and it decides;
// ours arrive as events.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "core/time.h"

namespace gf {

class Signals {
 public:
  Signals();
  ~Signals();
  /// After the child was forked with the old mask.
  void take_over();
  /// Waits for a signal or the time; signals from processes are passed on to `child`, those of the
  /// terminal's keys reach it without us. True when one asked us to end (there is no child).
  bool wait(Nanos until, pid_t child);
  /// Can be read when a signal has come.
  int fd() const { return fd_; }

 private:
  sigset_t before_{}, wanted_{};
  int fd_ = -1;
};

}  // namespace gf
