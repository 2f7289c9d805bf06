// The one lock of the library, and what makes it safe to take inside a stranger's program.
#pragma once

namespace gf::inject {

/// While it lives, this thread alone is inside. It is not inside, and nothing may be done, when a
/// signal handler of the program runs on a thread that was interrupted in here: waiting for the
/// lock would never end; nor when there is no memory. errno is the program's: it is put back at the
/// end.
class Inside {
 public:
  Inside();
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  bool entered_ = false;
  int error_;
};

/// Around fork(): no other thread may be inside while the process is copied.
void lock_for_fork();
void unlock_after_fork();

/// No signal handler of the program runs on this thread while it lives, and a file that may grow no
/// further (RLIMIT_FSIZE) fails a write instead of ending the program.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  unsigned long long before_[16];  // a sigset_t; <signal.h> stays out of this header
  bool size_signal_was_pending_;
};

}  // namespace gf::inject
