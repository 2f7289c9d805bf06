// The graph of one device and the host threads that launch its work.
#pragma once

#include "analyze/context.h"
#include "analyze/replay/graph.h"
#include "model/counter_values.h"

namespace gf {

/// The record of the capture that a node stands for.
struct NodeOrigin {
  std::uint32_t row = kNoRow;  // of activities, or of api_calls for a host's point; kNoRow: a begin
  std::uint32_t line = kNoRow;  // of a host's point: number in BuiltGraph::lines
  Interval worked;              // of a host's point: when its thread worked towards it
};

struct BuiltGraph {
  ReplayGraph graph;
  std::vector<NodeOrigin> origins;                // by node
  std::vector<std::vector<std::uint32_t>> lines;  // threads that are one line, rows of threads
};

/// Ranks are compared by the names of nodes; what is not compared does without.
enum class NodeNames : bool { none, given };

/// Builds the graph of the activities of `line` that were launched in `span`; `collectives`: those
/// of them that are collectives, by start. Near-linear.
BuiltGraph build_graph(const Context& context, const DeviceTimeline& line,
                       const std::vector<std::uint32_t>& collectives, Interval span = kAllTime,
                       NodeNames names = NodeNames::none);

}  // namespace gf
