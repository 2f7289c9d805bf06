// A capture as a Perfetto trace: https://ui.perfetto.dev opens it.
#pragma once

#include "analyze/context.h"
#include "report/perfetto/packets.h"

namespace gf {

/// Writes a whole capture: for each device its streams (overlapping work spills to further tracks),
/// the causes of its idle time and the levels of its kernels as counters; for each host thread its
/// operations and calls, with arrows from launch calls to what they started; and every sampled
/// counter. Times below zero do not exist in the format: such a capture is moved to start at 0.
/// Errors are those of the sink.
Status write_perfetto(const Context& context, const perfetto::Sink& sink);

}  // namespace gf
