#include "analyze/replay/draft.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gf {

std::uint32_t GraphDraft::name(const std::string& text) {
  const auto [at, added] = numbers_.try_emplace(text, static_cast<std::uint32_t>(names_.size()));
  if (added) names_.push_back(text);
  return at->second;
}

std::vector<std::uint32_t> GraphDraft::by_start() const {
  std::vector<std::uint32_t> order(nodes_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](auto node) { return nodes_[node].start; });
  return order;
}

ReplayGraph GraphDraft::finish(const std::vector<std::uint32_t>& order) && {
  ReplayGraph graph;
  graph.names = std::move(names_);
  std::vector<std::uint32_t> place(nodes_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    const Node& node = nodes_[order[i]];
    place[order[i]] = i;
    graph.start_ns.push_back(node.start);
    graph.duration_ns.push_back(node.duration);
    graph.name.push_back(node.name);
    graph.collective.push_back(node.collective);
    graph.input_ns.push_back(node.input);
    graph.profiler_ns.push_back(node.profiler);
  }
  std::erase_if(waits_, [&](const Wait& one) { return place[one.edge.from] >= place[one.to]; });
  graph.first_edge.assign(nodes_.size() + 1, 0);
  for (const auto& [to, edge] : waits_) ++graph.first_edge[place[to] + 1];
  std::partial_sum(graph.first_edge.begin(), graph.first_edge.end(), graph.first_edge.begin());
  graph.edges.resize(waits_.size());
  auto next = graph.first_edge;
  for (const auto& [to, edge] : waits_)
    graph.edges[next[place[to]]++] = {place[edge.from], edge.why, edge.lag};
  return graph;
}

}  // namespace gf
