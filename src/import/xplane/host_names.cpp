#include "import/xplane/host_names.h"

#include <charconv>

#include "import/gpu_api.h"

namespace gf::xplane {

namespace {

std::optional<std::int64_t> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  std::int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{})
    return std::nullopt;
  return value;
}

std::string_view operation_type(std::string_view name, std::string_view display_name) {
  constexpr std::string_view local = "EagerLocalExecute: ";
  if (name.starts_with(local)) return name.substr(local.size());
  // The executor names its events "node:OpType" and shows OpType alone.
  if (!display_name.empty() && name.size() > display_name.size() && name.ends_with(display_name) &&
      name[name.size() - display_name.size() - 1] == ':')
    return display_name;
  return {};
}

}  // namespace

bool holds_calls_alone(std::string_view thread) { return thread.starts_with("Host Threads/"); }

HostName classify_host(std::string_view name, std::string_view display_name) {
  HostName host_name;
  host_name.api = gpu_api_kind(name);
  if (is_gpu_api(name)) {
    host_name.event = HostEvent::api_call;
  } else if (name == "MemoryAllocation") {
    host_name.event = HostEvent::allocation;
  } else if (name == "MemoryDeallocation") {
    host_name.event = HostEvent::deallocation;
  } else if (name ==
             "ThreadpoolListener::Record") {  // tsl/profiler/backends/cpu/threadpool_listener.cc
    host_name.event = HostEvent::queue_enter;
  } else if (name == "ThreadpoolListener::StartRegion") {
    host_name.event = HostEvent::queue_leave;
  } else if (name == "ThreadpoolListener::StopRegion") {
    host_name.event = HostEvent::drop;
  } else if (name.starts_with('$')) {
    host_name.kind = HostKind::python;
  } else {
    host_name.op_type = operation_type(name, display_name);
  }
  return host_name;
}

PlaneKind plane_kind(std::string_view name) {
  if (gpu_number(name)) return PlaneKind::gpu;
  if (name == "/host:python-tracer") return PlaneKind::python;
  if (name == "/host:metadata") return PlaneKind::metadata;
  if (name == "Task Environment" || name == "/host:tfstreamz" ||
      name == "/host:__ScopeRangeCallStack__")
    return PlaneKind::environment;
  if (name.starts_with("/host:")) return PlaneKind::host;
  return PlaneKind::other;
}

std::optional<std::int32_t> gpu_number(std::string_view plane) {
  const auto number = number_after(plane, "/device:GPU:");
  if (!number || *number < 0 || *number > INT32_MAX) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

std::optional<std::int64_t> stream_number(std::string_view line) {
  return number_after(line, "Stream #");
}

bool is_derived_line(std::string_view line) {
  // xprof/convert/xplane_to_trace_container, xla/tsl/profiler/utils/xplane_schema.cc
  for (std::string_view name :
       {"Steps", "Framework Name Scope", "Framework Ops", "XLA Modules", "XLA Ops", "Async XLA Ops",
        "XLA TraceMe", "Launch Stats", "Source code", "Source Code", "TensorFlow Name Scope",
        "TensorFlow Ops", "Host Offload Ops", "SparseCore"})
    if (line.starts_with(name)) return true;
  return false;
}

std::optional<ActivityKind> device_event_kind(std::string_view name, bool kernel_details,
                                              bool memcpy_details, bool memset_details) {
  if (kernel_details) return ActivityKind::kernel;
  if (memcpy_details) return ActivityKind::memcpy;
  if (memset_details) return ActivityKind::memset;
  if (name.starts_with("Memcpy") || name.starts_with("memcpy")) return ActivityKind::memcpy;
  if (name.starts_with("Memset") || name.starts_with("memset")) return ActivityKind::memset;
  for (std::string_view bookkeeping :
       {"MemoryAlloc", "MemoryFree", "MemAlloc", "MemFree", "Overhead", "UnifiedMemory",
        "MemoryResidency", "ThreadMarker"})
    if (name.starts_with(bookkeeping)) return std::nullopt;
  return ActivityKind::kernel;
}

}  // namespace gf::xplane
