// For how long kernels that are not in a capture may have run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/capture.h"

namespace gf {

/// An upper end of the time that the kernels of these launches took, which have no record. A stream
/// runs its kernels in the order of their launches: those of a thread's launches in a row ran, one
/// after the other, between the kernels launched before and after them on the same stream, and not
/// before they were launched; those of known names as long as the longest of their names at most.
/// They are taken to be of a stream of their neighbours. `launches`: what join_launches says.
Nanos lost_time(const Capture& capture, const std::vector<std::uint32_t>& launches,
                std::span<const std::uint32_t> lone);

}  // namespace gf
