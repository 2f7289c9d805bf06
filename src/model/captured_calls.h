// Calls that a recorder saw being captured into a CUDA graph.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/capture.h"

namespace gf {

/// True if the call made a node of a graph instead of launching a kernel.
inline bool is_captured_launch(const Capture& capture, std::uint32_t call) {
  if (capture.api_calls.kind[call] != ApiKind::other) return false;
  const std::string_view name = capture.text(capture.api_calls.name[call]);
  return name.find("Launch") != name.npos && name.find("Kernel") != name.npos;
}

/// In recordings, a node that a call was seen to make has this number and the call's correlation,
/// whatever copies of it a graph has that is ready to launch. CUPTI's own numbers are below it.
inline constexpr std::int64_t kNodeOfCall = std::int64_t{1} << 48;

}  // namespace gf
