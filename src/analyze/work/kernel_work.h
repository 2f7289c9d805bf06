// The work of every kernel instance of the window: what its operation asks for by recorded shapes,
// beside what counters saw.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/context.h"
#include "analyze/utilization/instances.h"
#include "analyze/work/kernel_traits.h"
#include "analyze/work/rules.h"

namespace gf::work {

inline constexpr std::uint32_t kNoCall = UINT32_MAX;

/// What all calls of an operator with the same inputs share.
struct CallWork {
  const Rule* rule = nullptr;
  Call call;
  Work work;
};

/// One call of an operator whose work is known.
struct KnownCall {
  std::uint32_t host_op = kNoRow;
  std::uint32_t program_op = kNoRow;  // of a compiled program, where it is one's operation
  const CallWork* of = nullptr;       // of KernelWorks::shared
  double in_window = 0;   // share of it that lies in the window, by the time of its kernels
  std::string_view type;  // data type that its products run in
};

struct KernelWork {
  std::uint32_t call = kNoCall;  // of KernelWorks::calls
  bool multiplies = false;       // by name or layer
  double flops = 0;              // of products
  double recomputed = 0;         // of these, worked out a second time
  double covered = 0;            // operations that its tiles cover; flops where that is not known
  double other_flops = 0, bytes = 0;
  std::string_view type;        // data type of its products
  double measured_flops = NAN;  // tensor operations, counters
  double measured_bytes = NAN;  // of device memory, counters
};

struct KernelWorks {
  std::vector<KernelInstance> instances;
  std::vector<KernelWork> kernels;  // of each instance, in this order
  std::vector<KnownCall> calls;  // those with kernels in the window; of the CPU all in the window
  std::deque<CallWork> shared;   // what calls point to
  Program program;
};

/// Needs timelines, attribution and matching.
KernelWorks kernel_works(const Context& context);

/// The parameters that got gradients, of a mean step.
Program program_of(const Context& context);

}  // namespace gf::work
