// Who launched what: each device activity to its framework operation, forward operation, module and phase.
#pragma once

#include "analyze/context.h"

namespace gf {

/// Fills the host side of every activity (docs/attribution.md) except layers; `attribution.launch` must be there. Near-linear
/// in host operations, launch calls and activities; about 4 bytes a host operation and call and 21 bytes an activity.
void attribute(const Capture& capture, const HostThreads& host, Attribution& attribution);

/// The operation that names a layer: the outermost operation of a framework library (a name with "::") around `op`, so
/// that aten::cudnn_convolution inside aten::conv2d is called aten::conv2d. Wrappers (autograd engine, compiled
/// functions, annotations) end the climb. kNoRow stays kNoRow.
std::uint32_t naming_operation(const Capture& capture, const Attribution& attribution, std::uint32_t op);

}  // namespace gf
