#include "collect/inject/agent/guard.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace gf::inject {

namespace {

constinit pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

bool size_signal_pending() {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, SIGXFSZ) == 1;
}

}  // namespace

Inside::Inside() : error_(errno) {
  Thread* thread = this_thread();
  if (!thread || thread->inside) return;
  entered_ = thread->inside = true;
  pthread_mutex_lock(&mutex);
}

Inside::~Inside() {
  if (entered_) {
    pthread_mutex_unlock(&mutex);
    this_thread()->inside = false;
  }
  errno = error_;
}

void lock_for_fork() {
  Thread* thread = this_thread();
  if (!thread || thread->inside) return;  // a handler that interrupted this thread in here forks
  pthread_mutex_lock(&mutex);
  thread->locked_for_fork = true;
}

void unlock_after_fork() {
  Thread* thread = this_thread();
  if (!thread || !thread->locked_for_fork) return;
  thread->locked_for_fork = false;
  pthread_mutex_unlock(&mutex);
}

SignalsHeld::SignalsHeld() : size_signal_was_pending_(size_signal_pending()) {
  static_assert(sizeof before_ >= sizeof(sigset_t));
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::memcpy(before_, &before, sizeof before);
}

SignalsHeld::~SignalsHeld() {
  if (!size_signal_was_pending_ && size_signal_pending()) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGXFSZ);
    const timespec at_once{};
    sigtimedwait(&one, nullptr, &at_once);
  }
  sigset_t before;
  std::memcpy(&before, before_, sizeof before);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

namespace {

constinit pthread_key_t key{};
constinit bool have_key = false;

void forget(void* kept) {
  auto* thread = static_cast<Thread*>(kept);
  free_stacks(*thread);
  std::free(thread);
}

__attribute__((constructor(101))) void make_key() {
  have_key = pthread_key_create(&key, &forget) == 0;
}

}  // namespace

Thread* this_thread() {
  if (!have_key) return nullptr;
  if (auto* thread = static_cast<Thread*>(pthread_getspecific(key))) return thread;
  auto* thread = static_cast<Thread*>(std::calloc(1, sizeof(Thread)));
  if (thread && pthread_setspecific(key, thread) != 0) {
    std::free(thread);
    return nullptr;
  }
  return thread;
}

namespace {

constinit std::atomic<std::uint32_t> copies{1};  // of the process; a new thread has seen none

}  // namespace

void process_was_copied() { ++copies; }

std::uint32_t id_of(Thread& thread) {
  if (const std::uint32_t copy = copies.load(std::memory_order_relaxed); thread.copy != copy) {
    thread.copy = copy;
    thread.id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  }
  return thread.id;
}

bool memory_for(std::size_t bytes) {
  void* block = std::malloc(bytes + 4096);
  asm volatile("" : : "r"(block) : "memory");  // the pair is not taken out by the compiler
  std::free(block);
  return block != nullptr;
}

}  // namespace gf::inject
