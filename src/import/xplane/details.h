// The texts in which XLA's GPU tracers pack what they know of a kernel or a copy:
//   kernel_details  regs:168 static_shared:0 dynamic_shared:213220 grid:2,66,1 block:384,1,1
//   occ_pct:18.75 memcpy_details  kind_src:pageable kind_dst:device size:64 dest:0 async:1 (older:
//   num_bytes:64) Memset_details  kind:unknown num_bytes:4 async:0
// Blank-separated key:value pairs; unknown keys are skipped (AMD adds private_mem and group_mem).
// Source: xla/backends/profiler/gpu/cupti_buffer_events.h, ToXStat.
#pragma once

#include <cmath>
#include <cstdint>
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

}  // namespace gf::xplane
