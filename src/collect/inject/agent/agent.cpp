#include "collect/inject/agent/agent.h"

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "collect/cupti/find.h"
#include "collect/inject/agent/guard.h"
#include "collect/inject/agent/ranges.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

#define GF_ACTIVITY_FUNCTIONS(X)       \
  X(cuptiSubscribe)                    \
  X(cuptiUnsubscribe)                  \
  X(cuptiActivityEnable)               \
  X(cuptiActivityDisable)              \
  X(cuptiActivityRegisterCallbacks)    \
  X(cuptiActivityFlushAll)             \
  X(cuptiActivityGetNextRecord)        \
  X(cuptiActivityGetNumDroppedRecords) \
  X(cuptiGetCallbackName)              \
  X(cuptiGetResultString)
#define GF_OPTIONAL_FUNCTIONS(X)            \
  X(cuptiActivityEnableRuntimeApi)          \
  X(cuptiActivityEnableDriverApi)           \
  X(cuptiActivityRegisterTimestampCallback) \
  X(cuptiActivityFlushPeriod)

struct Functions {
#define X(name) decltype(&::name) name = nullptr;
  GF_ACTIVITY_FUNCTIONS(X) GF_OPTIONAL_FUNCTIONS(X)
#undef X
} cupti;

CUpti_SubscriberHandle subscriber = nullptr;
std::atomic<bool> open_window{false}, ended{false}, between{false};
pid_t process = 0;  // that was set up; CUPTI does not survive a fork
// Whoever opens or closes a window, or ends: the library's thread and the one that calls exit().
constinit pthread_mutex_t window_mutex = PTHREAD_MUTEX_INITIALIZER;
std::int64_t window_start = 0;
std::atomic<int> buffers{0};
constexpr std::size_t kBufferBytes = 1 << 20;
constexpr int kMostBuffers = 64;  // 64 MB: past it CUPTI drops records and counts them

void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *most = 0;
  *size = 0;
  *buffer = nullptr;
  if (buffers >= kMostBuffers) return;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  if (!*buffer) return;
  *size = kBufferBytes;
  ++buffers;
}

/// The program's one object of this type, never destroyed: CUPTI hands over its last buffers while
/// the program ends, after the destructors of ordinary statics have run.
template <class T>
T& kept() {
  static T* object = new T;
  return *object;
}

void write_device(std::uint32_t ordinal) {
  if (!kept<std::set<std::uint32_t>>().insert(ordinal).second) return;
  Device d{};
  d.ordinal = ordinal;
  using GetUuid = int (*)(unsigned char*, int);
  static const auto get = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    auto* f = driver ? dlsym(driver, "cuDeviceGetUuid_v2") : nullptr;
    return reinterpret_cast<GetUuid>(f ? f : driver ? dlsym(driver, "cuDeviceGetUuid") : nullptr);
  }();
  if (get) get(d.uuid, static_cast<int>(ordinal));
  Writer::instance().put(Type::device, d);
}

std::uint32_t kernel_name(const char* name) {
  // CUPTI hands out one pointer for each kernel: the text is looked at once.
  auto& known = kept<std::unordered_map<const char*, std::uint32_t>>();
  if (known.size() > 100000) known.clear();
  const auto [it, added] = known.try_emplace(name, 0);
  if (added) it->second = Writer::instance().text(name ? name : "");
  return it->second;
}

std::uint32_t api_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  auto& known = kept<std::unordered_map<std::uint64_t, std::uint32_t>>();
  const auto [it, added] = known.try_emplace(static_cast<std::uint64_t>(domain) << 32 | id, 0);
  if (added) {
    const char* text = nullptr;
    cupti.cuptiGetCallbackName(domain, id, &text);
    std::string name = text ? text : "";
    if (const auto v = name.rfind("_v"); v != std::string::npos) name.resize(v);
    if (name.ends_with("_ptsz") || name.ends_with("_ptds")) name.resize(name.size() - 5);
    it->second = Writer::instance().text(name);
  }
  return it->second;
}

void write_record(const CUpti_Activity* record) {
  auto& out = Writer::instance();
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      write_device(k.deviceId);
      Kernel r{};
      r.start = static_cast<std::int64_t>(k.start);
      r.end = static_cast<std::int64_t>(k.end);
      r.graph_node = k.graphNodeId;
      r.device = k.deviceId;
      r.context = k.contextId;
      r.stream = k.streamId;
      r.correlation = k.correlationId;
      r.name = kernel_name(k.name);
      r.graph = k.graphId;
      r.grid[0] = k.gridX, r.grid[1] = k.gridY, r.grid[2] = k.gridZ;
      r.block[0] = k.blockX, r.block[1] = k.blockY, r.block[2] = k.blockZ;
      r.registers = k.registersPerThread;
      r.shared_bytes = static_cast<std::uint32_t>(k.staticSharedMemory + k.dynamicSharedMemory);
      out.put(Type::kernel, r);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& m = *reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      write_device(m.deviceId);
      out.put(Type::memcpy,
              Memory{static_cast<std::int64_t>(m.start), static_cast<std::int64_t>(m.end), m.bytes,
                     m.graphNodeId, m.deviceId, m.contextId, m.streamId, m.correlationId, m.graphId,
                     m.copyKind});
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {  // from GPU to GPU
      const auto& m = *reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
      write_device(m.deviceId);
      out.put(Type::memcpy,
              Memory{static_cast<std::int64_t>(m.start), static_cast<std::int64_t>(m.end), m.bytes,
                     m.graphNodeId, m.deviceId, m.contextId, m.streamId, m.correlationId, m.graphId,
                     CUPTI_ACTIVITY_MEMCPY_KIND_PTOP});
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& m = *reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      write_device(m.deviceId);
      out.put(Type::memset,
              Memory{static_cast<std::int64_t>(m.start), static_cast<std::int64_t>(m.end), m.bytes,
                     m.graphNodeId, m.deviceId, m.contextId, m.streamId, m.correlationId, m.graphId,
                     0});
      break;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto& a = *reinterpret_cast<const CUpti_ActivityAPI*>(record);
      const auto domain = record->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API
                                                                      : CUPTI_CB_DOMAIN_DRIVER_API;
      out.put(Type::api, Api{static_cast<std::int64_t>(a.start), static_cast<std::int64_t>(a.end),
                             a.threadId, a.correlationId, api_name(domain, a.cbid), 0});
      break;
    }
    default:
      break;
  }
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                               std::size_t, std::size_t valid) {
  {
    std::lock_guard lock(kept<std::mutex>());
    CUpti_Activity* record = nullptr;
    while (valid > 0 && !Writer::instance().full() &&
           cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
      write_record(record);
    std::size_t lost = 0;
    if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS &&
        lost > 0)
      Writer::instance().put(Type::dropped, Dropped{lost});
    Writer::instance().flush();
  }
  std::free(buffer);
  --buffers;
}

// Launches, copies, sets and waits: the calls that the analyses ask about. All others would only
// cost time.
constexpr CUpti_CallbackId kRuntime[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020,
};
constexpr CUpti_CallbackId kDriver[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET};

std::string words(CUptiResult code) {
  const char* text = nullptr;
  cupti.cuptiGetResultString(code, &text);
  return text ? text : "error " + std::to_string(static_cast<int>(code));
}

bool begin_window() {
  if (const auto code = cupti.cuptiSubscribe(&subscriber, &ignore, nullptr);
      code != CUPTI_SUCCESS) {
    Writer::instance().message("kernels are not recorded: another profiler is in the program (" +
                               words(code) + ")");
    Writer::instance().flush();
    return false;
  }
  if (const auto code = cupti.cuptiActivityRegisterCallbacks(&buffer_requested, &buffer_completed);
      code != CUPTI_SUCCESS) {
    cupti.cuptiUnsubscribe(subscriber);
    Writer::instance().message("kernels are not recorded: " + words(code));
    Writer::instance().flush();
    return false;
  }
  if (cupti.cuptiActivityRegisterTimestampCallback)
    cupti.cuptiActivityRegisterTimestampCallback(&now_ns);
  for (auto kind : kKinds)
    if (const auto code = cupti.cuptiActivityEnable(kind); code != CUPTI_SUCCESS)
      Writer::instance().message("activity kind " + std::to_string(kind) + ": " + words(code));
  if (cupti.cuptiActivityEnableRuntimeApi && cupti.cuptiActivityEnableDriverApi) {
    for (auto id : kRuntime) cupti.cuptiActivityEnableRuntimeApi(id, 1);
    for (auto id : kDriver) cupti.cuptiActivityEnableDriverApi(id, 1);
  } else {
    cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
  }
  if (cupti.cuptiActivityFlushPeriod) cupti.cuptiActivityFlushPeriod(200);
  window_start = static_cast<std::int64_t>(now_ns());
  Writer::instance().put(Type::window, Window{window_start, 0});
  open_window = true;
  between = false;
  return true;
}

/// One window operation at a time. At the end of the process no longer than a moment is waited for:
/// a thread that is stuck in CUPTI must not keep the program from ending.
class WindowLock {
 public:
  explicit WindowLock(int seconds = 3600) {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    held_ = pthread_mutex_timedlock(&window_mutex, &until) == 0;
  }
  ~WindowLock() {
    if (held_) pthread_mutex_unlock(&window_mutex);
  }
  WindowLock(const WindowLock&) = delete;
  WindowLock& operator=(const WindowLock&) = delete;
  explicit operator bool() const { return held_; }

 private:
  bool held_ = false;
};

void end_window() {
  if (!open_window.exchange(false)) return;
  between = true;
  const auto window_end = static_cast<std::int64_t>(now_ns());
  for (auto kind : kKinds) cupti.cuptiActivityDisable(kind);
  if (cupti.cuptiActivityEnableRuntimeApi && cupti.cuptiActivityEnableDriverApi) {
    for (auto id : kRuntime) cupti.cuptiActivityEnableRuntimeApi(id, 0);
    for (auto id : kDriver) cupti.cuptiActivityEnableDriverApi(id, 0);
  } else {
    cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME);
  }
  cupti.cuptiActivityFlushAll(1);
  cupti.cuptiUnsubscribe(subscriber);
  Writer::instance().put(Type::window, Window{window_start, window_end});
  Writer::instance().flush();
}

void pause(std::int64_t ms) {
  const timespec t{ms / 1000, static_cast<long>(ms % 1000) * 1'000'000};
  nanosleep(&t, nullptr);
}

std::int64_t now_ms() { return static_cast<std::int64_t>(now_ns() / 1'000'000); }

/// Until the window has been open for its time or its steps, or nothing more can be written.
void stay_open(std::int64_t opened, std::int64_t step0) {
  std::int64_t flushed = now_ms();
  while (!ended && !Writer::instance().full()) {
    if (settings.window_ms && now_ms() >= opened + settings.window_ms) return;
    if (settings.steps && steps_so_far() >= step0 + settings.steps) return;
    pause(20);
    if (now_ms() - flushed < 200) continue;
    flushed = now_ms();
    Writer::instance().flush();
  }
}

/// Opens and closes the windows.
void* control(void*) {
  pthread_setname_np(pthread_self(), "gpufathom");
  std::int64_t next = now_ms() + settings.delay_ms;
  while (!ended) {
    while (now_ms() < next && !ended) pause(std::min<std::int64_t>(20, next - now_ms() + 1));
    {
      const WindowLock lock;
      if (ended || (!open_window && !begin_window())) break;
    }
    const std::int64_t opened = next;
    stay_open(opened, steps_so_far());
    const WindowLock lock;
    if (ended) break;
    end_window();
    if (Writer::instance().abandoned()) break;
    if (Writer::instance().full()) {
      Writer::instance().message(
          "the bound on recorded bytes is reached: no more kernels are recorded");
      break;
    }
    if (!settings.every_ms) break;
    next = std::max(opened + settings.every_ms, now_ms());
  }
  return nullptr;
}

/// The program's signals are for its own threads.
void start_control() {
  const SignalsHeld held;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, &control, nullptr) == 0) pthread_detach(thread);
}

void at_end() {
  if (getpid() != process) return;  // a forked child that ends
  if (ended.exchange(true)) return;
  if (const WindowLock lock(2); lock) end_window();
  Writer::instance().flush();
}

bool load() {
  auto library = open_cupti();
  if (!library) {
    Writer::instance().message("kernels are not recorded: " + library.error().what);
    return false;
  }
#define X(name) cupti.name = reinterpret_cast<decltype(&::name)>(library->symbol(#name));
  GF_ACTIVITY_FUNCTIONS(X)
  GF_OPTIONAL_FUNCTIONS(X)
#undef X
#define X(name)                                                                                   \
  if (!cupti.name) {                                                                              \
    Writer::instance().message("kernels are not recorded: " + library->path() + " lacks " #name); \
    return false;                                                                                 \
  }
  GF_ACTIVITY_FUNCTIONS(X)
#undef X
  return true;
}

}  // namespace

bool between_windows() { return between; }

}  // namespace gf::inject

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace gf::inject;
  static std::atomic<bool> once{false};
  if (once.exchange(true) || !recorded()) return 1;
  if (!load()) {
    Writer::instance().flush();
    return 1;  // the program must not notice
  }
  process = getpid();
  between = settings.delay_ms > 0;
  // A window that begins at once begins here: the first kernels count too.
  if (settings.delay_ms == 0 && !begin_window()) return 1;
  start_control();
  std::atexit(&at_end);
  at_quick_exit(&at_end);
  return 1;
}
