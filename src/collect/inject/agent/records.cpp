#include "collect/inject/agent/records.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "collect/inject/agent/cupti_functions.h"
#include "collect/inject/agent/thread.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

std::atomic<int> buffers{0};
constexpr std::size_t kBufferBytes = 1 << 20;
constexpr int kMostBuffers = 64;  // 64 MB: past it CUPTI drops records and counts them

struct Counts {
  std::atomic<std::int64_t> kernels{0}, memory{0}, calls{0}, graph_kernels{0}, buffers{0};
};
constinit Counts counts{};

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *most = 0;
  *size = 0;
  *buffer = nullptr;
  ++counts.buffers;
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
  if (!memory_for(64 * known.size())) return 0;
  const auto [it, added] = known.try_emplace(name, 0);
  if (added) it->second = Writer::instance().text(name ? name : "");
  return it->second;
}

void write_kernel(const CUpti_ActivityKernel10& k) {
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
  r.grid[0] = k.gridX;
  r.grid[1] = k.gridY;
  r.grid[2] = k.gridZ;
  r.block[0] = k.blockX;
  r.block[1] = k.blockY;
  r.block[2] = k.blockZ;
  r.registers = k.registersPerThread;
  r.shared_bytes = static_cast<std::uint32_t>(k.staticSharedMemory + k.dynamicSharedMemory);
  Writer::instance().put(Type::kernel, r);
  ++counts.kernels;
  if (k.graphId != 0) ++counts.graph_kernels;
}

/// A launch of a graph as one stretch of work, where its nodes are not traced.
void write_graph(const CUpti_ActivityGraphTrace2& g) {
  write_device(g.deviceId);
  Kernel r{};
  r.start = static_cast<std::int64_t>(g.start);
  r.end = static_cast<std::int64_t>(g.end);
  r.device = g.deviceId;
  r.context = g.contextId;
  r.stream = g.streamId;
  r.correlation = g.correlationId;
  r.name = Writer::instance().text("CUDA graph " + std::to_string(g.graphId));
  r.graph = g.graphId;
  Writer::instance().put(Type::kernel, r);
  ++counts.kernels;
}

template <class Record>
void write_memory(Type type, const Record& m, std::uint32_t kind) {
  write_device(m.deviceId);
  Writer::instance().put(
      type,
      Memory{static_cast<std::int64_t>(m.start), static_cast<std::int64_t>(m.end), m.bytes,
             m.graphNodeId, m.deviceId, m.contextId, m.streamId, m.correlationId, m.graphId, kind});
  ++counts.memory;
}

void write_call(const CUpti_ActivityAPI& a, CUpti_CallbackDomain domain) {
  Writer::instance().put(Type::api,
                         Api{static_cast<std::int64_t>(a.start), static_cast<std::int64_t>(a.end),
                             a.threadId, a.correlationId, call_name(domain, a.cbid), 0});
  ++counts.calls;
}

void write_record(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return write_kernel(*reinterpret_cast<const CUpti_ActivityKernel10*>(record));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return write_graph(*reinterpret_cast<const CUpti_ActivityGraphTrace2*>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& m = *reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      return write_memory(Type::memcpy, m, m.copyKind);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2:  // from GPU to GPU
      return write_memory(Type::memcpy, *reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record),
                          CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return write_memory(Type::memset, *reinterpret_cast<const CUpti_ActivityMemset4*>(record), 0);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return write_call(*reinterpret_cast<const CUpti_ActivityAPI*>(record),
                        CUPTI_CB_DOMAIN_RUNTIME_API);
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return write_call(*reinterpret_cast<const CUpti_ActivityAPI*>(record),
                        CUPTI_CB_DOMAIN_DRIVER_API);
    default:
      return;
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

}  // namespace

CUptiResult register_buffers() {
  return cupti.cuptiActivityRegisterCallbacks(&buffer_requested, &buffer_completed);
}

Seen seen() {
  return {counts.kernels, counts.memory, counts.calls, counts.graph_kernels, counts.buffers};
}

void forget_seen() {
  for (auto* count :
       {&counts.kernels, &counts.memory, &counts.calls, &counts.graph_kernels, &counts.buffers})
    *count = 0;
}

std::uint32_t call_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  std::lock_guard lock(kept<std::recursive_mutex>());
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

}  // namespace gf::inject
