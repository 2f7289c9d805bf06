// The parts of an exported trace. All write through one PacketWriter.
#pragma once

#include "analyze/context.h"
#include "analyze/utilization/kernel_levels.h"
#include "report/perfetto/packets.h"

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
