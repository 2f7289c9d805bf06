// What the library keeps for each thread: behind a pthread key, not as thread_local variables.
// Those have destructors that run before the program's last ranges, and end the process where there
// is no memory for them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace gf::inject {

struct Stack;

struct Thread {
  bool inside;           // the library's lock
  bool locked_for_fork;  // by this thread
  Stack *stacks, *steps;
  pid_t process;               // in which the next is valid
  std::uint32_t id;            // as the kernel numbers it
  std::uint32_t runtime_call;  // correlation of the last call of the CUDA runtime
  std::uint32_t calls;         // with callbacks that it is inside, one in the other
};

/// Null where there is no memory. A thread that comes back after its end begins anew.
Thread* this_thread();
/// The thread's number; a forked child's is a new one.
std::uint32_t id_of(Thread& thread);
/// Defined with the ranges.
void free_stacks(Thread& thread);

/// Whether so much could be had now: no exception may be thrown, because it needs memory itself.
bool memory_for(std::size_t bytes);

}  // namespace gf::inject
