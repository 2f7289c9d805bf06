#include "collect/inject/agent/thread.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace gf::inject {

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

std::uint32_t id_of(Thread& thread) {
  if (const pid_t process = getpid(); thread.process != process) {
    thread.process = process;
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
