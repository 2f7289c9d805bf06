// CUPTI's activity records, as the recorder reads them.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace gf::inject {

/// Takes CUPTI's buffers from now on; the answer is CUPTI's.
CUptiResult register_buffers();

/// Since the window began: records of each sort, and whether CUPTI asked for memory at all.
struct Seen {
  std::int64_t kernels, memory, calls, graph_kernels, buffers;
};
Seen seen();
void forget_seen();

/// The number of a call's name without its version.
std::uint32_t call_name(CUpti_CallbackDomain domain, CUpti_CallbackId id);

}  // namespace gf::inject
