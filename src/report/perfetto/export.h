// A capture as a Perfetto trace: https://ui.perfetto.dev opens it.
// The parts of an exported trace. All write through one PacketWriter.
#pragma once

#include "analyze/context.h"
#include "analyze/utilization/kernel_levels.h"
#include "report/perfetto/tracks.h"

namespace gf {

/// Writes a whole capture: for each device its streams (overlapping work spills to further tracks),
/// the causes of its idle time and the levels of its kernels as counters; for each host thread its
/// operations and calls, with arrows from launch calls to what they started; and every sampled
/// counter. Times below zero do not exist in the format: such a capture is moved to start at 0.
/// Errors are those of the sink.
Status write_perfetto(const Context& context, const perfetto::Sink& sink);

}  // namespace gf

namespace gf::perfetto {

struct Export {
  const Context& context;
  PacketWriter& out;
  Nanos shift = 0;  // added to every time of the capture
  int order = 0;    // place of the next track at the top
};

/// The arrow from a launch call to activity `row`.
inline std::uint64_t flow_of(std::uint32_t row) { return std::uint64_t{row} + 1; }

/// Steps, then for each device its idle causes, levels and streams.
void write_devices(Export& target);
/// Levels inside the kernels of a device as counter tracks under `parent`.
void write_levels(Export& target, const KernelLevels& levels, const DeviceTimeline& line,
                  std::uint64_t parent);
/// Host threads.
void write_host(Export& target);
/// Depth of the framework's and the devices' queues as counter tracks.
void write_queues(Export& target);
/// Sampled counters: power, clocks, PM samples.
void write_samples(Export& target);

}  // namespace gf::perfetto
