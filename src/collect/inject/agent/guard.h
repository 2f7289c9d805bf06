// The one lock of the library, and what makes it safe to take inside a stranger's program.
// State of the library for each thread: behind a pthread key, not as thread_local variables.
// Those have destructors that run before the program's last ranges, and end the process where there
// is no memory for them.
#pragma once

#include <cstddef>
#include <cstdint>

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

struct Stack;

struct Thread {
  bool inside;           // the library's lock
  bool locked_for_fork;  // by this thread
  Stack *stacks, *steps;
  std::uint32_t copy;          // of the process, in which the next is valid
  std::uint32_t id;            // as the kernel numbers it
  std::uint32_t runtime_call;  // correlation of the last call of the CUDA runtime
  std::uint32_t calls;         // with callbacks that it is inside, one in the other
  bool captures;               // the call made a node of a graph: it launches nothing
  std::uint64_t node;          // the last one that it made, 0: none that has a number
};

/// Null where there is no memory. A thread that comes back after its end begins anew.
Thread* this_thread();
/// The thread's number; a forked child's is a new one. Asked for at every call of the program, so
/// that no system call may be in it: process_was_copied() says when numbers are others.
std::uint32_t id_of(Thread& thread);
void process_was_copied();
/// Defined with the ranges.
void free_stacks(Thread& thread);

/// True if so much could be had now: no exception may be thrown, because it needs memory itself.
bool memory_for(std::size_t bytes);

}  // namespace gf::inject
