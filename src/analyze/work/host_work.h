// The work of a capture without GPU activity: a profile of the CPU alone, or a memory snapshot.
#pragma once

#include "analyze/context.h"
#include "analyze/work/result.h"
#include "core/error.h"

namespace gf {

/// True when there is something to say of it: operations or allocations, and no activity of a GPU.
bool has_host_work_alone(const Capture& capture);

/// Operations, bytes, memory and throughput; the window is all of it, or its marked steps. Errors:
/// another window.
Result<WorkUse> measure_host_work(const Capture& capture, const AnalyzeOptions& options);

}  // namespace gf
