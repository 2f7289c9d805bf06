#include "collect/inject/agent/records.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "collect/inject/agent/calls.h"
#include "collect/inject/agent/cupti_functions.h"
#include "collect/inject/agent/guard.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

std::atomic<int> buffers{0};
// CUPTI hands over what is whole. While tracing goes on after a window's end, a buffer is so only
// when it is full: what the window still waits for is in small ones. With 1 MB, windows of 0.15 s
// in a decoder on an H200 lost all their kernels.
constexpr std::size_t kBufferBytes = 32 << 10;
constexpr std::size_t kMostBytes = 64 << 20;  // past it CUPTI drops records and counts them

struct Counts {
  std::atomic<std::int64_t> kernels{0}, memory{0}, requested{0}, unfinished{0}, past{0};
};
constinit Counts counts{};

/// Buffers that CUPTI holds stay reachable: what it never gives back is no leak of the program.
constexpr std::size_t kMostBuffers = kMostBytes / kBufferBytes;
constinit std::atomic<std::uint8_t*> given[kMostBuffers]{};
constinit std::atomic<bool> kept_buffers{false};

bool replace_given(std::uint8_t* from, std::uint8_t* to) {
  for (auto& slot : given)
    if (std::uint8_t* expected = from; slot.compare_exchange_strong(expected, to)) return true;
  return false;
}

constexpr std::int64_t kNever = INT64_MAX;
constinit std::atomic<std::int64_t> accepted_from{kNever}, accepted_until{kNever};
/// True if a record of work belongs to the window. A window that is ending hands over without a
/// time what has been launched and has not run yet.
bool belongs(std::int64_t start, std::int64_t end, std::uint32_t correlation) {
  const std::int64_t from = accepted_from, until = accepted_until;
  if (from == kNever) return false;
  const bool no_time = start == 0 || end == 0;
  // CUPTI hands over without a time, too, what was launched before the window.
  if (no_time && called_before_window(correlation)) return false;
  if (until != kNever && (no_time || start >= until)) {
    if (called_in_window(correlation))
      ++counts.unfinished;
    else
      ++counts.past;
    return false;
  }
  return no_time || end > from;
}

template <class Record>
bool belongs(const Record& record) {
  return belongs(static_cast<std::int64_t>(record.start), static_cast<std::int64_t>(record.end),
                 record.correlationId);
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *most = 0;
  *size = 0;
  *buffer = nullptr;
  ++counts.requested;
  auto* made = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  if (!made) return;
  if (!replace_given(nullptr, made)) return std::free(made);
  *buffer = made;
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
  Device device{};
  device.ordinal = ordinal;
  using GetUuid = int (*)(unsigned char*, int);
  static const auto get = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    auto* found = driver ? dlsym(driver, "cuDeviceGetUuid_v2") : nullptr;
    return reinterpret_cast<GetUuid>(found    ? found
                                     : driver ? dlsym(driver, "cuDeviceGetUuid")
                                              : nullptr);
  }();
  if (get) get(device.uuid, static_cast<int>(ordinal));
  Writer::instance().put(Type::device, device);
}

std::uint32_t kernel_name(const char* name) {
  // CUPTI hands out one pointer for each kernel: the text is looked at once.
  auto& known = kept<std::unordered_map<const char*, std::uint32_t>>();
  if (known.size() > 100000) known.clear();
  if (!memory_for(64 * known.size())) return 0;
  const auto [it, added] = known.try_emplace(name, 0);
  if (added) it->second = Writer::instance().text(name ? name : "");
  return it->second;
}

void write_kernel(const CUpti_ActivityKernel10& kernel10) {
  if (!belongs(kernel10)) return;
  write_device(kernel10.deviceId);
  Kernel kernel{};
  kernel.start = static_cast<std::int64_t>(kernel10.start);
  kernel.end = static_cast<std::int64_t>(kernel10.end);
  kernel.graph_node = kernel10.graphNodeId;
  kernel.device = kernel10.deviceId;
  kernel.context = kernel10.contextId;
  kernel.stream = kernel10.streamId;
  kernel.correlation = kernel10.correlationId;
  kernel.name = kernel_name(kernel10.name);
  kernel.graph = kernel10.graphId;
  kernel.grid[0] = kernel10.gridX;
  kernel.grid[1] = kernel10.gridY;
  kernel.grid[2] = kernel10.gridZ;
  kernel.block[0] = kernel10.blockX;
  kernel.block[1] = kernel10.blockY;
  kernel.block[2] = kernel10.blockZ;
  kernel.registers = kernel10.registersPerThread;
  kernel.shared_bytes =
      static_cast<std::uint32_t>(kernel10.staticSharedMemory + kernel10.dynamicSharedMemory);
  Writer::instance().put(Type::kernel, kernel);
  ++counts.kernels;
}

/// A launch of a graph as one stretch of work, where its nodes are not traced.
void write_graph(const CUpti_ActivityGraphTrace2& graph_trace2) {
  if (!belongs(graph_trace2)) return;
  write_device(graph_trace2.deviceId);
  Kernel kernel{};
  kernel.start = static_cast<std::int64_t>(graph_trace2.start);
  kernel.end = static_cast<std::int64_t>(graph_trace2.end);
  kernel.device = graph_trace2.deviceId;
  kernel.context = graph_trace2.contextId;
  kernel.stream = graph_trace2.streamId;
  kernel.correlation = graph_trace2.correlationId;
  kernel.name = Writer::instance().text("CUDA graph " + std::to_string(graph_trace2.graphId));
  kernel.graph = graph_trace2.graphId;
  Writer::instance().put(Type::kernel, kernel);
  ++counts.kernels;
}

template <class Record>
void write_memory(Type type, const Record& record, std::uint32_t kind) {
  if (!belongs(record)) return;
  write_device(record.deviceId);
  Writer::instance().put(
      type, Memory{static_cast<std::int64_t>(record.start), static_cast<std::int64_t>(record.end),
                   record.bytes, record.graphNodeId, record.deviceId, record.contextId,
                   record.streamId, record.correlationId, record.graphId, kind});
  ++counts.memory;
}

void write_record(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return write_kernel(*reinterpret_cast<const CUpti_ActivityKernel10*>(record));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return write_graph(*reinterpret_cast<const CUpti_ActivityGraphTrace2*>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& memcpy6 = *reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      return write_memory(Type::memcpy, memcpy6, memcpy6.copyKind);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2:  // from GPU to GPU
      return write_memory(Type::memcpy, *reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record),
                          CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return write_memory(Type::memset, *reinterpret_cast<const CUpti_ActivityMemset4*>(record), 0);
    default:
      return;
  }
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                               std::size_t, std::size_t valid) {
  if (accepted_from != kNever) {  // else a window is over, and the next has not begun
    std::lock_guard lock(kept<std::mutex>());
    CUpti_Activity* record = nullptr;
    while (valid > 0 && !Writer::instance().full() &&
           cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
      write_record(record);
    std::size_t lost = 0;
    if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS &&
        lost > 0)
      Writer::instance().put(Type::dropped, Dropped{lost});
  }
  if (!kept_buffers && replace_given(buffer, nullptr)) std::free(buffer);
  --buffers;
}

}  // namespace

CUptiResult register_buffers() {
  return cupti.cuptiActivityRegisterCallbacks(&buffer_requested, &buffer_completed);
}

Seen seen() {
  return {counts.kernels, counts.memory, counts.requested, counts.unfinished, counts.past, buffers};
}

void forget_seen() {
  for (auto* count :
       {&counts.kernels, &counts.memory, &counts.requested, &counts.unfinished, &counts.past})
    *count = 0;
}

void window_begins(std::int64_t start) {
  accepted_until = kNever;
  accepted_from = start;
}
void window_ends(std::int64_t end) { accepted_until = end; }
void window_is_over() { accepted_from = accepted_until = kNever; }

void forget_names() {
  std::lock_guard lock(kept<std::mutex>());
  kept<std::unordered_map<const char*, std::uint32_t>>().clear();
}

void forget_dropped() {
  std::size_t lost = 0;
  cupti.cuptiActivityGetNumDroppedRecords(nullptr, 0, &lost);
}

void keep_buffers() { kept_buffers = true; }

void forget_devices() {
  std::lock_guard lock(kept<std::mutex>());
  kept<std::set<std::uint32_t>>().clear();
}

std::uint32_t call_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  std::lock_guard lock(kept<std::recursive_mutex>());
  auto& known = kept<std::unordered_map<std::uint64_t, std::uint32_t>>();
  const auto [it, added] = known.try_emplace(static_cast<std::uint64_t>(domain) << 32 | id, 0);
  if (added) {
    const char* text = nullptr;
    cupti.cuptiGetCallbackName(domain, id, &text);
    std::string name = text ? text : "";
    if (const auto rfind = name.rfind("_v"); rfind != std::string::npos) name.resize(rfind);
    if (name.ends_with("_ptsz") || name.ends_with("_ptds")) name.resize(name.size() - 5);
    it->second = Writer::instance().text(name);
  }
  return it->second;
}

}  // namespace gf::inject
