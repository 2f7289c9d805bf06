#include "import/gpu_api.h"

namespace gf {

namespace {

bool has(std::string_view name, std::string_view part) { return name.find(part) != name.npos; }

}  // namespace

bool is_gpu_api(std::string_view name) {
  for (std::string_view prefix : {"cuda", "cu", "hip"})
    if (name.size() > prefix.size() && name.starts_with(prefix)) {
      const char next = name[prefix.size()];
      if (next >= 'A' && next <= 'Z') return !name.starts_with("cuDNN");
    }
  return false;
}

ApiKind gpu_api_kind(std::string_view name) {
  if (has(name, "GraphLaunch")) return ApiKind::graph_launch;
  if (has(name, "LaunchHostFunc")) return ApiKind::other;  // runs a host function, no kernel
  if (has(name, "Launch")) return ApiKind::launch;
  if (has(name, "Memcpy")) return ApiKind::memcpy;
  if (has(name, "Memset")) return ApiKind::memset;
  if (has(name, "Synchronize")) return ApiKind::sync;
  for (std::string_view part : {"Malloc", "Free", "MemAlloc", "HostAlloc", "HostRegister",
                                "HostUnregister", "MemCreate", "MemRelease"})
    if (has(name, part)) return ApiKind::alloc;
  return ApiKind::other;
}

}  // namespace gf
