// What is known of each call: what it started, whether its stream had been told to wait before, and
// whether it did one-off work.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/context.h"

namespace gf {

struct LaunchFacts {
  std::vector<std::uint32_t>
      started;  // by row of api_calls: the first activity that the call started, kNoRow without
  std::vector<bool> waits;    // by row of api_calls: its stream was told to wait for an event since
                              // its last launch there
  std::vector<bool> one_off;  // by row of api_calls: it loaded a module, created a context,
                              // captured a graph, launched a kernel for the first time, ...
};

/// Reads the calls of every thread in order. Which stream a wait call is about stands in the syncs
/// table where the source recorded it; a wait of an unknown stream counts for the thread's next
/// launch on any stream.
LaunchFacts collect_launch_facts(const Context& context);

}  // namespace gf
