// The runtime phases of a framework operation (docs/runtime.md): what one operation goes through
// from the Python call to the end of its kernel.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gf {

enum class RuntimePhase : std::uint8_t {
  gpu_kernel,  // the device runs it
  cpu_kernel,  // the host computes it
  dequeue,     // the runtime takes it from its queue and prepares its kernel
  memcpy,      // data moves between host and device
  wait,        // the host waits for a value or for the device
  launch,      // a call of the GPU runtime starts device work
  enqueue,     // the framework takes the call and hands it to its runtime
  queued,      // launched, not started
  other,       // none of these: the program's own Python code, or nothing
};
inline constexpr std::size_t kRuntimePhases = 9;

/// In the order of precedence: where several hold at once, a time share takes the first. The first
/// five are the order of DSD 2022; the rest divides what that leaves over.
inline constexpr std::array<std::string_view, kRuntimePhases> kRuntimePhaseNames{
    "gpu_kernel", "cpu_kernel", "dequeue", "memcpy", "wait",
    "launch",     "enqueue",    "queued",  "other"};
constexpr std::string_view name_of(RuntimePhase p) {
  return kRuntimePhaseNames[static_cast<std::size_t>(p)];
}
constexpr std::size_t index_of(RuntimePhase p) { return static_cast<std::size_t>(p); }

}  // namespace gf
