// The graphs of all ranks as one: collectives end when the last rank has arrived.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/ranks/ranks.h"
#include "analyze/replay/graph.h"

namespace gf {

struct JobGraph {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  ReplayGraph graph;                // on the common clock
  std::vector<std::uint32_t> part;  // by node: number in Job::parts, kNone for a collective's end
  std::vector<std::uint32_t> end;   // by shared collective that synchronises: node of its end
  std::vector<Nanos> transfer;      // by shared collective: from the last arrival to that
};

/// Of the ranks that have a graph and a clock; none where that is fewer than two.
std::optional<JobGraph> join_graphs(const Job& job);

}  // namespace gf
