// Functions of glibc 2.36 that a build's objects need and glibc 2.26 lacks. Where the
// program is linked for older systems, these stand for it. Numbers and structs are those of the
// kernel's 64-bit systems, which x86-64 and AArch64 share.
#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

// The C++ runtime waits by the monotonic clock, older locks and conditions by the other one: the
// same time from now. Who waits looks again at its own clock and waits for the rest.
timespec by_realtime(clockid_t clock, const timespec& until) {
  timespec now{};
  timespec realtime{};
  ::clock_gettime(clock, &now);
  ::clock_gettime(CLOCK_REALTIME, &realtime);
  realtime.tv_sec += until.tv_sec - now.tv_sec;
  realtime.tv_nsec += until.tv_nsec - now.tv_nsec;
  constexpr long kSecond = 1'000'000'000;
  for (; realtime.tv_nsec >= kSecond; realtime.tv_nsec -= kSecond) ++realtime.tv_sec;
  for (; realtime.tv_nsec < 0; realtime.tv_nsec += kSecond) --realtime.tv_sec;
  return realtime;
}

}  // namespace

extern "C" {

// Threads may come at any time: reference counts of the C++ runtime are always atomic.
char __libc_single_threaded = 0;

std::uint32_t arc4random() {
  std::uint32_t number = 0;
  // Requests of so few bytes are never cut short once the kernel's pool is filled.
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) std::abort();
  return number;
}

int fstatat(int folder, const char* path, struct stat* out, int flags) noexcept {
  return static_cast<int>(::syscall(SYS_newfstatat, folder, path, out, flags));
}
int stat(const char* path, struct stat* out) noexcept { return fstatat(AT_FDCWD, path, out, 0); }
int lstat(const char* path, struct stat* out) noexcept {
  return fstatat(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}
int fstat(int file, struct stat* out) noexcept {
  return static_cast<int>(::syscall(SYS_fstat, file, out));
}

int fcntl64(int file, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  return ::fcntl(file, command, argument);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  const timespec realtime = by_realtime(clock, *until);
  return ::pthread_cond_timedwait(condition, mutex, &realtime);
}
int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                            const timespec* until) noexcept {
  const timespec realtime = by_realtime(clock, *until);
  return ::pthread_mutex_timedlock(mutex, &realtime);
}
}
