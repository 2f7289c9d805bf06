#include "collect/inject/agent/agent.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <new>

#include "collect/inject/agent/cupti_functions.h"
#include "collect/inject/agent/guard.h"
#include "collect/inject/agent/records.h"
#include "collect/inject/agent/windows.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

constexpr std::int64_t kTick = 20, kFlush = 200, kTryAgain = 1000;  // ms
// ms: kernels that were launched in a window run after it. No record for so long, and nothing that
// CUPTI still holds, or what was launched after the end has come: all have; and the longest wait.
constexpr std::int64_t kQuiet = 100, kMostLinger = 1000;
constexpr int kMostBeginnings = 3;  // of a window in which CUPTI records no kernel

std::atomic<bool> ended{false}, started{false};
std::uint32_t ask = 0;  // of the recorder that came to a running program, 0: it was there before
pid_t process = 0;      // that was set up; CUPTI does not survive a fork

void pause(std::int64_t ms) {
  const timespec moment{ms / 1000, static_cast<long>(ms % 1000) * 1'000'000};
  nanosleep(&moment, nullptr);
}

std::int64_t now_ms() { return static_cast<std::int64_t>(now_ns() / 1'000'000); }

/// The process ends, or its recorder goes.
bool over() { return ended || (ask != 0 && asked() != ask); }

/// Windows that the recorder asked for so far; it asks where settings.first_ms is given.
std::uint32_t requests() {
  const Control* page = settings.first_ms > 0 ? control() : nullptr;
  return page ? page->windows.load() : 0;
}

bool open(std::uint32_t request) {
  const WindowLock lock;
  return !ended && (window_is_open() || begin_window(request));
}

/// False when CUPTI does not give what was asked for.
bool look_after() {
  const WindowLock lock;
  return ended || look_after_window();
}

bool begin_again(std::uint32_t request) {
  {
    const WindowLock lock;
    if (!ended) end_window(false);
  }
  return open(request);
}

/// Until the window has been open for `length` ms (0: no end) or its steps, the recorder asks for
/// the next, or nothing more can be written.
void stay_open(std::int64_t opened, std::int64_t length, std::uint32_t request) {
  const std::int64_t step0 = steps_so_far();
  std::int64_t flushed = now_ms();
  int beginnings = 1;
  while (!over() && !Writer::instance().full() && requests() == request) {
    if (length && now_ms() >= opened + length) return;
    if (settings.steps && steps_so_far() >= step0 + settings.steps) return;
    pause(kTick);
    if (now_ms() - flushed < kFlush) continue;
    flushed = now_ms();
    if (!look_after() && beginnings < kMostBeginnings) {
      if (!begin_again(request)) return;
      ++beginnings;
      opened = now_ms();
    }
    Writer::instance().flush();
  }
}

/// CUPTI hands over only what is whole, so that all that was launched must have run before it can
/// be let go of: it would write into memory that is no longer its own.
void linger() {
  std::int64_t known = -1, quiet = 0;
  bool all = false;
  for (std::int64_t waited = 0; waited < kMostLinger && !all && !ended; waited += kTick) {
    pause(kTick);
    if (const WindowLock lock; !ended) flush_window();
    const Seen now = seen();
    const std::int64_t records = now.kernels + now.memory + now.unfinished;
    quiet = records == known ? quiet + kTick : 0;
    known = records;
    all = quiet >= kQuiet && (now.past > 0 || now.held == 0);
  }
}

/// True when nothing more is to be recorded.
bool finish_window() {
  {
    const WindowLock lock;
    if (!ended) close_window();
  }
  linger();
  const WindowLock lock;
  if (ended) return true;
  end_window(false);
  if (Writer::instance().abandoned()) return true;
  if (!Writer::instance().full()) return false;
  Writer::instance().put(Type::loss, Loss{static_cast<std::uint32_t>(LossKind::bound), 0, 1});
  Writer::instance().message(
      "the bound on recorded bytes is reached: no more kernels are recorded");
  Writer::instance().flush();
  return true;
}

/// True when CUPTI is let go of, for a profiler of the program's own.
bool let_go() {
  const WindowLock lock;
  return ended || let_go_of_cupti();
}

/// Waits until a window is due; false when none will be.
bool wait_for_window(std::int64_t due, std::uint32_t served) {
  const bool asked_for = settings.first_ms > 0 && control();
  while (!over() && requests() == served) {
    if (due >= 0 && now_ms() >= due) return true;
    if (due < 0 && !asked_for) return false;
    if (asked_for) Writer::instance().flush();  // steps, and whether the recorder is there
    if (Writer::instance().abandoned()) return false;
    let_go();
    pause(asked_for ? kTick : std::min<std::int64_t>(kTick, due - now_ms() + 1));
  }
  return !over();
}

/// When the window after one that opened at `opened` is due: windows of all processes are to be
/// open together, whenever each began to use CUDA.
std::int64_t next_due(std::int64_t opened, std::int64_t length) {
  if (settings.every_ms == 0) return -1;
  const std::int64_t first = std::max(opened + std::max<std::int64_t>(length, 1), now_ms());
  return (first + settings.every_ms - 1) / settings.every_ms * settings.every_ms;
}

/// Opens and closes the windows.
void record_windows() {
  std::int64_t due = now_ms() + settings.delay_ms, length = settings.window_ms;
  if (settings.first_ms > 0) length = settings.first_ms;
  std::uint32_t served = 0;
  while (wait_for_window(due, served)) {
    served = requests();
    if (served > 0) length = settings.window_ms;
    if (!open(served)) {  // another profiler may let go
      due = now_ms() + kTryAgain;
      continue;
    }
    const std::int64_t opened = std::max(due, now_ms() - kTick);
    stay_open(opened, length, served);
    if (finish_window()) break;
    due = next_due(opened, length);
  }
}

/// A fault is shown to the program's own handler, which then can say where it was: the thread
/// holds all other signals back, and held back it would end the program without a word. Threads
/// that CUPTI makes are made by this one.
void begin_thread() {
  pthread_setname_np(pthread_self(), "gpufathom");
  sigset_t faults;
  sigemptyset(&faults);
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaddset(&faults, number);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
}

void* run(void*) {
  begin_thread();
  record_windows();
  while (settings.own_profiler && !let_go()) pause(kTick);
  return nullptr;
}

/// Empty, or why CUPTI cannot be used; found out once.
const std::string& why_no_cupti() {
  static const std::string& why = *new std::string(load_cupti());
  return why;
}

/// Until the recorder goes, whether or not there is anything left to record.
void record_for(std::uint32_t number) {
  Writer::instance().begin_anew(wanted(), number);
  ask = number;
  forget_devices();
  forget_told();
  const std::string& why = why_no_cupti();
  if (why.empty())
    record_windows();
  else
    Writer::instance().message("kernels are not recorded: " + why);
  Writer::instance().flush();
  while (!over() && !Writer::instance().abandoned()) {
    pause(kTick);
    Writer::instance().flush();
  }
  {
    const WindowLock lock;
    if (ended) return;  // the rest is at_end()'s
    end_window(false);
  }
  Writer::instance().flush();
  Writer::instance().end_session();
  ask = 0;
}

/// Sleeps until a recorder comes, for as often as one does.
void* serve(void*) {
  begin_thread();
  for (std::uint32_t number = 0; !ended;) {
    number = wait_for_ask(number);
    if (number % 2 == 1) record_for(number);
    number = answer();
  }
  return nullptr;
}

/// The program's signals are for its own threads.
void start_thread(void* (*function)(void*)) {
  const SignalsHeld held;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, function, nullptr) == 0) pthread_detach(thread);
}

void at_end() {
  if (getpid() != process) return;  // a forked child that ends
  if (ended.exchange(true)) return;
  if (const WindowLock lock(2); lock) end_window(true);
  Writer::instance().flush();
}

}  // namespace

bool between_windows() { return started && !window_is_open(); }

}  // namespace gf::inject

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace gf::inject;
  static std::atomic<bool> once{false};
  if (once.exchange(true) || (!recorded() && !dormant())) return 1;
  if (dormant()) {
    if (!show_page()) return 1;
    process = getpid();
    if (!settings.own_profiler && why_no_cupti().empty()) begin_watching();
    started = true;
    start_thread(&serve);
    std::atexit(&at_end);
    at_quick_exit(&at_end);
    return 1;
  }
  if (const std::string& why = why_no_cupti(); !why.empty()) {
    Writer::instance().message("kernels are not recorded: " + why);
    Writer::instance().flush();
    return 1;  // the program must not notice
  }
  process = getpid();
  // A window that begins at once begins here: the first kernels count too.
  if (settings.delay_ms == 0) {
    open(0);
  } else if (const WindowLock lock; lock) {
    begin_tracing();
  }
  started = true;
  start_thread(&run);
  std::atexit(&at_end);
  at_quick_exit(&at_end);
  return 1;
}

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
