#include "import/gpu_api.h"

namespace gf {

bool is_gpu_api(std::string_view name) {
  for (std::string_view prefix : {"cuda", "cu", "hip"})
    if (name.size() > prefix.size() && name.starts_with(prefix)) {
      const char next = name[prefix.size()];
      if (next >= 'A' && next <= 'Z') return !name.starts_with("cuDNN");
    }
  return false;
}

namespace {

struct Part {
  std::string_view name;  // that a call's name has
  ApiKind kind;
};

// The first that a name has counts. CUDA, HIP and their likes (MUSA, MACA, ...) name alike; ur and
// ze are Intel's, cn and cnrt Cambricon's.
constexpr Part kParts[] = {
    {"GraphLaunch", ApiKind::graph_launch},
    {"urEnqueueCommandBuffer", ApiKind::graph_launch},
    {"LaunchHostFunc", ApiKind::other},  // runs a host function, no kernel
    {"Launch", ApiKind::launch},
    {"InvokeKernel", ApiKind::launch},
    {"Memcpy", ApiKind::memcpy},
    {"memcpy", ApiKind::memcpy},
    {"MemoryCopy", ApiKind::memcpy},
    {"MemBufferCopy", ApiKind::memcpy},
    {"MemBufferRead", ApiKind::memcpy},
    {"MemBufferWrite", ApiKind::memcpy},
    {"Memset", ApiKind::memset},
    {"memset", ApiKind::memset},
    {"MemoryFill", ApiKind::memset},
    {"MemBufferFill", ApiKind::memset},
    {"USMFill", ApiKind::memset},
    {"Synchronize", ApiKind::sync},
    {"urQueueFinish", ApiKind::sync},
    {"urEventWait", ApiKind::sync},
    {"QueueSync", ApiKind::sync},
    {"SyncDevice", ApiKind::sync},
    {"Malloc", ApiKind::alloc},
    {"Free", ApiKind::alloc},
    {"MemAlloc", ApiKind::alloc},
    {"HostAlloc", ApiKind::alloc},
    {"HostRegister", ApiKind::alloc},
    {"HostUnregister", ApiKind::alloc},
    {"MemCreate", ApiKind::alloc},
    {"MemRelease", ApiKind::alloc},
    {"MemMap", ApiKind::alloc},
    {"MemUnmap", ApiKind::alloc},
    {"USMDeviceAlloc", ApiKind::alloc},
    {"USMHostAlloc", ApiKind::alloc},
};

}  // namespace

ApiKind gpu_api_kind(std::string_view name) {
  for (const auto& part : kParts)
    if (name.find(part.name) != name.npos) return part.kind;
  return ApiKind::other;
}

}  // namespace gf
