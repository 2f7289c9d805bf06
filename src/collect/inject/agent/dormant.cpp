#include "collect/inject/agent/dormant.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <initializer_list>
#include <new>

namespace gf::inject {

namespace {

constinit Dormant* page = nullptr;

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

/// By its number: old C libraries have no function for it.
int anonymous_file() {
  return static_cast<int>(syscall(SYS_memfd_create, kDormantName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

}  // namespace

bool show_page() {
  int fd = anonymous_file();
  if (fd < 0) return false;
  // Far from the descriptors that the program opens: it may count on their numbers. Recorders find
  // it there, so it stays open.
  for (const int least : {900, 200, 50}) {
    const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, least);
    if (high < 0) continue;
    ::close(fd);
    fd = high;
    break;
  }
  void* at = MAP_FAILED;
  // A recorder maps it: a page that could shrink would be a trap.
  if (::ftruncate(fd, sizeof(Dormant)) == 0 && ::fcntl(fd, F_ADD_SEALS, kDormantSeals) == 0)
    at = ::mmap(nullptr, sizeof(Dormant), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    ::close(fd);
    return false;
  }
  page = new (at) Dormant{};
  page->pid = getpid();
  page->version = kVersion;
  return true;
}

std::uint32_t asked() { return page->asked; }

std::uint32_t wait_for_ask(std::uint32_t known) {
  while (page->asked == known) futex(page->asked, FUTEX_WAIT, known);
  return page->asked;
}

const Dormant& wanted() { return *page; }

std::uint32_t answer() {
  // A recorder that is gone did not move the number on: the next one will.
  const std::uint32_t number = page->asked;
  page->served = number;
  futex(page->served, FUTEX_WAKE, INT_MAX);
  return number;
}

}  // namespace gf::inject
