#include "import/xplane/details.h"

#include <charconv>

#include "import/gpu_api.h"

namespace gf::xplane {

namespace {

template <class T>
void number(std::string_view text, T& out) {
  T value{};
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{} &&
      value >= 0)
    out = value;
}

void triple(std::string_view text, std::int32_t (&out)[3]) {
  for (auto& value : out) {
    const auto comma = text.find(',');
    number(text.substr(0, comma), value);
    if (comma == text.npos) return;
    text.remove_prefix(comma + 1);
  }
}

CopyKind direction(std::string_view source, std::string_view destination) {
  if (source.empty() || destination.empty()) return CopyKind::unknown;
  const bool from_device = source == "device" || source == "array",
             to_device = destination == "device" || destination == "array";
  const bool from_host = source == "pageable" || source == "pinned" || source == "host",
             to_host =
                 destination == "pageable" || destination == "pinned" || destination == "host";
  if (from_host && to_device) return CopyKind::host_to_device;
  if (from_device && to_host) return CopyKind::device_to_host;
  if (from_device && to_device) return CopyKind::device_to_device;
  return from_host && to_host ? CopyKind::host_to_host : CopyKind::unknown;
}

}  // namespace

bool looks_like_details(std::string_view text) {
  for (std::string_view key : {"grid:", "num_bytes:", "size:"})
    if (text.find(key) != text.npos) return true;
  return false;
}

Details parse_details(std::string_view text) {
  Details details;
  std::int64_t fixed = -1, dynamic = -1;
  std::string_view source, destination;
  while (!text.empty()) {
    const auto blank = text.find(' ');
    const auto pair = text.substr(0, blank);
    text.remove_prefix(blank == text.npos ? text.size() : blank + 1);
    const auto colon = pair.find(':');
    if (colon == pair.npos) continue;
    const auto key = pair.substr(0, colon), value = pair.substr(colon + 1);
    if (key == "regs")
      number(value, details.registers);
    else if (key == "static_shared")
      number(value, fixed);
    else if (key == "dynamic_shared")
      number(value, dynamic);
    else if (key == "group_mem")
      number(value, fixed);
    else if (key == "grid")
      triple(value, details.grid);
    else if (key == "block")
      triple(value, details.block);
    else if (key == "occ_pct")
      number(value, details.occupancy);
    else if (key == "num_bytes" || key == "size")
      number(value, details.bytes);
    else if (key == "kind_src")
      source = value;
    else if (key == "kind_dst")
      destination = value;
  }
  if (fixed >= 0 || dynamic >= 0) {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(fixed < 0 ? 0 : fixed, dynamic < 0 ? 0 : dynamic, &sum))
      details.shared_bytes = sum;
  }
  // Tracers that cannot compute the occupancy write 0 (AMD does for every kernel); a kernel that
  // ran had some.
  if (details.occupancy > 0) {
    details.occupancy = details.occupancy / 100;
  } else {
    details.occupancy = NAN;
  }
  details.copy = direction(source, destination);
  return details;
}

CopyKind copy_from_name(std::string_view name) {
  struct Row {
    std::string_view part;
    CopyKind kind;
  };
  static constexpr Row rows[] = {
      {"H2D", CopyKind::host_to_device},
      {"HToD", CopyKind::host_to_device},
      {"HtoD", CopyKind::host_to_device},
      {"D2H", CopyKind::device_to_host},
      {"DToH", CopyKind::device_to_host},
      {"DtoH", CopyKind::device_to_host},
      {"D2D", CopyKind::device_to_device},
      {"DToD", CopyKind::device_to_device},
      {"DtoD", CopyKind::device_to_device},
      {"H2H", CopyKind::host_to_host},
      {"HToH", CopyKind::host_to_host},
      {"P2P", CopyKind::peer},
      {"PToP", CopyKind::peer},
  };
  for (const auto& row : rows)
    if (name.find(row.part) != name.npos) return row.kind;
  return CopyKind::unknown;
}

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
  return name.starts_with("/host:") ? PlaneKind::host : PlaneKind::other;
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
