// Dumps of NCCL's flight recorder by PyTorch: pickles (nccl_trace_rank_N), or the JSON of its
// /dump handler; and logs of NCCL's inspector.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "model/nccl_dump.h"

namespace gf {

bool is_nccl_dump(std::string_view head);
/// Errors: no dump, damage.
Result<NcclDump> read_nccl_dump(const std::string& path, std::uint64_t max_bytes);

}  // namespace gf
