#include "analyze/replay/graph.h"

#include <algorithm>

namespace gf {

std::vector<Nanos> replay(const ReplayGraph& graph, const std::vector<Nanos>& duration,
                          const std::vector<Nanos>& lag) {
  std::vector<Nanos> end(graph.size());
  for (std::size_t node = 0; node < graph.size(); ++node) {
    Nanos start = graph.start_ns[node];
    const auto first = graph.first_edge[node], last = graph.first_edge[node + 1];
    if (first < last) start = INT64_MIN;
    for (auto i = first; i < last; ++i) start = std::max(start, end[graph.edges[i].from] + lag[i]);
    end[node] = start + duration[node];
  }
  return end;
}

}  // namespace gf
