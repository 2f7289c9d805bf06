// Stands between the recorder's library and libcupti in a program that is attached to again and
// again, to find which of CUPTI's calls ends it: forwards the calls, or leaves some of them out,
// and keeps the last of them in a file. When the program is about to die it says where. It is built
// as a libcupti.so.13 in a folder of its own, which GPUFATHOM_LIBRARY_PATH names for the program
// alone.
//
// GPUFATHOM_BETWEEN: words with commas. keep_subscriber: subscribed once, never let go.
// keep_kinds: activity kinds are enabled once and never disabled. no_flush, no_period: no flush on
// demand, no period of flushes. no_callbacks: none of the program's calls is called back.
// no_clock: CUPTI keeps its own clock. GPUFATHOM_BETWEEN_REAL: the library behind;
// GPUFATHOM_BETWEEN_LOG: the file.
#include <cupti.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <set>
#include <string>

namespace {

struct Entry {
  std::uint64_t ns;
  std::uint32_t thread;
  std::int32_t result;  // kBegun while the call is under way
  char what[48];
};
constexpr std::int32_t kBegun = -1;
constexpr std::uint64_t kEntries = 4096, kShown = 40;

struct Log {
  std::atomic<std::uint64_t> count;
  Entry entries[kEntries];
};
Log* call_log = nullptr;
void* real = nullptr;
bool keep_subscriber, keep_kinds, no_flush, no_period, no_callbacks, no_clock;
struct sigaction segv_before, bus_before;

std::uint64_t now() {
  timespec moment{};
  clock_gettime(CLOCK_REALTIME, &moment);
  return static_cast<std::uint64_t>(moment.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(moment.tv_nsec);
}

std::uint32_t thread_number() { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

/// A fault must reach the handler on every thread that comes by here, on a stack of its own: the
/// recorder's thread holds all signals back.
void show_faults() {
  thread_local void* stack = nullptr;
  if (!stack) {
    constexpr std::size_t kStack = 256 << 10;
    stack = std::malloc(kStack);
    const stack_t own{stack, 0, kStack};
    sigaltstack(&own, nullptr);
  }
  sigset_t faults;
  sigemptyset(&faults);
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigaddset(&faults, number);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
}

/// One call in the log, while it is under way and with its result.
class Noted {
 public:
  explicit Noted(const char* what, long argument = -1) {
    show_faults();
    entry_ = &call_log->entries[call_log->count++ % kEntries];
    entry_->ns = now();
    entry_->thread = thread_number();
    entry_->result = kBegun;
    if (argument < 0) {
      std::snprintf(entry_->what, sizeof entry_->what, "%s", what);
    } else {
      std::snprintf(entry_->what, sizeof entry_->what, "%s %ld", what, argument);
    }
  }
  template <class Code>
  Code ends(Code code) {
    entry_->result = static_cast<std::int32_t>(code);
    return code;
  }

 private:
  Entry* entry_;
};

void say(const char* text) { (void)!write(2, text, std::strlen(text)); }

/// Lines of /proc/self/maps that the addresses are to be held against.
void say_maps() {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  while (maps && std::fgets(line, sizeof line, maps))
    if (std::strstr(line, "r-xp") &&
        (std::strstr(line, "cupti") || std::strstr(line, "libcuda") ||
         std::strstr(line, "gpufathom") || std::strstr(line, "nvperf")))
      say(line);
}

void on_fault(int number, siginfo_t* info, void* context) {
  char line[256], name[32] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  std::snprintf(line, sizeof line, "== signal %d, address %p, thread %u \"%s\", ip %llx, sp %llx\n",
                number, info->si_addr, thread_number(), name,
                static_cast<unsigned long long>(registers[REG_RIP]),
                static_cast<unsigned long long>(registers[REG_RSP]));
  say(line);
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
  say("== mapped\n");
  say_maps();
  say("== last calls of CUPTI\n");
  const std::uint64_t count = call_log->count;
  for (std::uint64_t i = count < kShown ? 0 : count - kShown; i < count; ++i) {
    const Entry& entry = call_log->entries[i % kEntries];
    std::snprintf(line, sizeof line, "%llu thread %u %s: %d\n",
                  static_cast<unsigned long long>(entry.ns), entry.thread, entry.what,
                  entry.result);
    say(line);
  }
  sigaction(number, number == SIGBUS ? &bus_before : &segv_before, nullptr);
}

bool said(const char* word) {
  const char* words = std::getenv("GPUFATHOM_BETWEEN");
  return words && std::strstr(words, word);
}

Log* make_log() {
  const char* path = std::getenv("GPUFATHOM_BETWEEN_LOG");
  const int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;
  void* at = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, sizeof(Log)) == 0)
    at = mmap(nullptr, sizeof(Log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd >= 0) close(fd);
  if (at == MAP_FAILED) at = std::calloc(1, sizeof(Log));
  return static_cast<Log*>(at);
}

void* open_real() {
  if (const char* path = std::getenv("GPUFATHOM_BETWEEN_REAL"))
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (void* loaded = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD)) return loaded;
  for (const char* path :
       {"libcupti.so.13", "/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so.13"})
    if (void* found = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return found;
  return nullptr;
}

__attribute__((constructor)) void begin() {
  call_log = make_log();
  real = open_real();
  keep_subscriber = said("keep_subscriber");
  keep_kinds = said("keep_kinds");
  no_flush = said("no_flush");
  no_period = said("no_period");
  no_callbacks = said("no_callbacks");
  no_clock = said("no_clock");
  void* frames[4];
  backtrace(frames, 4);  // what it needs is loaded now, not in the handler
  struct sigaction action{};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, &segv_before);
  sigaction(SIGBUS, &action, &bus_before);
}

template <class Function>
Function* behind(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(real, name));
}
#define BEHIND(name) behind(&name, #name)

CUpti_BuffersCallbackRequestFunc request;
CUpti_BuffersCallbackCompleteFunc complete;

void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  Noted call("buffer requested");
  request(buffer, size, most);
  call.ends(*buffer ? 0 : 1);
}

void CUPTIAPI completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                        std::size_t size, std::size_t valid) {
  Noted call("buffer completed", static_cast<long>(valid));
  complete(context, stream, buffer, size, valid);
  call.ends(0);
}

CUpti_SubscriberHandle kept = nullptr;
std::set<int>& enabled() {
  static auto* kinds = new std::set<int>;
  return *kinds;
}

}  // namespace

extern "C" {

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc function,
                           void* data) {
  Noted call("subscribe");
  return call.ends(BEHIND(cuptiSubscribe)(subscriber, function, data));
}
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc function,
                              void* data, CUpti_SubscriberParams* params) {
  Noted call("subscribe_v2");
  if (keep_subscriber && kept) {
    *subscriber = kept;
    return call.ends(CUPTI_SUCCESS);
  }
  auto* forward = BEHIND(cuptiSubscribe_v2);
  CUptiResult code = CUPTI_SUCCESS;
  if (forward) {
    code = forward(subscriber, function, data, params);
  } else {
    code = BEHIND(cuptiSubscribe)(subscriber, function, data);
  }
  if (code == CUPTI_SUCCESS) kept = *subscriber;
  return call.ends(code);
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  Noted call("unsubscribe");
  if (keep_subscriber) return call.ends(CUPTI_SUCCESS);
  return call.ends(BEHIND(cuptiUnsubscribe)(subscriber));
}
CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (no_callbacks) return CUPTI_SUCCESS;
  // One of each list stands for all in the log.
  if (id != CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel &&
      id != CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000)
    return BEHIND(cuptiEnableCallback)(enable, subscriber, domain, id);
  Noted call(enable ? "callback on" : "callback off", static_cast<long>(domain) * 10000 + id);
  return call.ends(BEHIND(cuptiEnableCallback)(enable, subscriber, domain, id));
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  Noted call("enable", kind);
  if (keep_kinds && !enabled().insert(kind).second) return call.ends(CUPTI_SUCCESS);
  return call.ends(BEHIND(cuptiActivityEnable)(kind));
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  Noted call("disable", kind);
  if (keep_kinds) return call.ends(CUPTI_SUCCESS);
  return call.ends(BEHIND(cuptiActivityDisable)(kind));
}
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, std::uint8_t enable) {
  return BEHIND(cuptiActivityEnableDriverApi)(id, enable);
}
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, std::uint8_t enable) {
  return BEHIND(cuptiActivityEnableRuntimeApi)(id, enable);
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc on_request,
                                           CUpti_BuffersCallbackCompleteFunc on_complete) {
  Noted call("register buffers");
  request = on_request;
  complete = on_complete;
  return call.ends(BEHIND(cuptiActivityRegisterCallbacks)(&requested, &completed));
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  Noted call("register clock");
  if (no_clock) return call.ends(CUPTI_SUCCESS);
  return call.ends(BEHIND(cuptiActivityRegisterTimestampCallback)(clock));
}
CUptiResult cuptiActivityFlushPeriod(std::uint32_t ms) {
  Noted call("flush period", ms);
  if (no_period) return call.ends(CUPTI_SUCCESS);
  return call.ends(BEHIND(cuptiActivityFlushPeriod)(ms));
}
CUptiResult cuptiActivityFlushAll(std::uint32_t forced) {
  Noted call("flush all", forced);
  if (no_flush) return call.ends(CUPTI_SUCCESS);
  return call.ends(BEHIND(cuptiActivityFlushAll)(forced));
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                       CUpti_Activity** record) {
  static auto* forward = BEHIND(cuptiActivityGetNextRecord);
  return forward(buffer, valid, record);
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, std::uint32_t stream,
                                              std::size_t* dropped) {
  return BEHIND(cuptiActivityGetNumDroppedRecords)(context, stream, dropped);
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  return BEHIND(cuptiGetCallbackName)(domain, id, name);
}
CUptiResult cuptiGetResultString(CUptiResult code, const char** text) {
  return BEHIND(cuptiGetResultString)(code, text);
}

}  // extern "C"
