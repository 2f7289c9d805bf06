// The texts in which XLA's GPU tracers pack what they know of a kernel or a copy:
//   kernel_details  regs:168 static_shared:0 dynamic_shared:213220 grid:2,66,1 block:384,1,1
//   occ_pct:18.75 memcpy_details  kind_src:pageable kind_dst:device size:64 dest:0 async:1 (older:
//   num_bytes:64) Memset_details  kind:unknown num_bytes:4 async:0
// Blank-separated key:value pairs; unknown keys are skipped (AMD adds private_mem and group_mem).
// Source: xla/backends/profiler/gpu/cupti_buffer_events.h, ToXStat.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/enums.h"

namespace gf::xplane {

struct Details {
  std::int32_t registers = -1;
  std::int64_t shared_bytes = -1;  // static and dynamic together
  std::int32_t grid[3] = {-1, -1, -1};
  std::int32_t block[3] = {-1, -1, -1};
  double occupancy = NAN;  // 0..1
  std::int64_t bytes = -1;
  CopyKind copy = CopyKind::unknown;
};

/// True for a text that parse_details would find something in.
bool looks_like_details(std::string_view text);
Details parse_details(std::string_view text);
/// Direction of a copy from an event name such as MemcpyH2D or MemcpyDToH, `unknown` when the name
/// does not say.
CopyKind copy_from_name(std::string_view name);

// Names on the host side of XLA and TensorFlow profiles. Shared by the xplane and the
// trace.json importers.

/// The treatment of a host event.
enum class HostEvent : std::uint8_t {
  span,
  api_call,
  allocation,
  deallocation,
  queue_enter,
  queue_leave,
  drop
};

struct HostName {
  HostEvent event = HostEvent::span;
  HostKind kind = HostKind::op;  // of a span
  ApiKind api = ApiKind::other;  // of a call, or of anything on a thread that holds calls alone
  std::string_view
      op_type;  // part of `name` that says the type of the operation, empty when it does not
};

/// By the event's name and display name.
HostName classify_host(std::string_view name, std::string_view display_name);
/// True for host lines that hold GPU runtime calls alone ("Host Threads/N"), whatever those are
/// called.
bool holds_calls_alone(std::string_view thread);

/// The content of a plane (or of a trace.json's process), by its name.
enum class PlaneKind : std::uint8_t { gpu, host, python, metadata, environment, other };
PlaneKind plane_kind(std::string_view name);
/// N of /device:GPU:N.
std::optional<std::int32_t> gpu_number(std::string_view plane);

/// N of a stream line ("Stream #14(Compute,Memset)"); empty for lines that XProf derives from them
/// (Steps, XLA Ops, ...), which repeat the same GPU time and must not count twice.
std::optional<std::int64_t> stream_number(std::string_view line);
bool is_derived_line(std::string_view line);

/// The kind of a device event, by the details it carries and its name; empty for bookkeeping that
/// is no work (allocations).
std::optional<ActivityKind> device_event_kind(std::string_view name, bool kernel_details,
                                              bool memcpy_details, bool memset_details);

}  // namespace gf::xplane
