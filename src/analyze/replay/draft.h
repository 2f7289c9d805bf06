// A graph while it is put together, in any order.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/replay/build_graph.h"

namespace gf {

class GraphDraft {
 public:
  struct Node {
    Nanos start = 0, duration = 0;
    std::uint32_t name = 0;
    std::int64_t collective = ReplayGraph::kNone;
    Nanos input = 0, profiler = 0;
    NodeOrigin origin;
  };

  std::uint32_t add(const Node& node) {
    nodes_.push_back(node);
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  void add_edge(std::uint32_t from, std::uint32_t to, WaitsFor why, Nanos lag) {
    edges_.push_back({to, {from, why, lag}});
  }
  const Node& at(std::uint32_t node) const { return nodes_[node]; }

  std::uint32_t name(const std::string& text) {
    const auto [at, added] =
        numbers_.try_emplace(text, static_cast<std::uint32_t>(graph_.names.size()));
    if (added) graph_.names.push_back(text);
    return at->second;
  }

  /// An edge from a later node cannot be true (clocks disagree) and is left out.
  BuiltGraph finish() && {
    std::vector<std::uint32_t> order(nodes_.size()), place(nodes_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](auto left, auto right) {
      return nodes_[left].start < nodes_[right].start;
    });
    for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    std::erase_if(edges_,
                  [&](const auto& edge) { return place[edge.second.from] >= place[edge.first]; });
    std::stable_sort(edges_.begin(), edges_.end(), [&](const auto& left, const auto& right) {
      return place[left.first] < place[right.first];
    });
    std::vector<NodeOrigin> origins;
    graph_.first_edge.assign(nodes_.size() + 1, 0);
    for (const auto node : order) {
      graph_.start_ns.push_back(nodes_[node].start);
      graph_.duration_ns.push_back(nodes_[node].duration);
      graph_.name.push_back(nodes_[node].name);
      graph_.collective.push_back(nodes_[node].collective);
      graph_.input_ns.push_back(nodes_[node].input);
      graph_.profiler_ns.push_back(nodes_[node].profiler);
      origins.push_back(nodes_[node].origin);
    }
    for (const auto& [to, edge] : edges_) {
      graph_.edges.push_back({place[edge.from], edge.why, edge.lag});
      ++graph_.first_edge[place[to] + 1];
    }
    std::partial_sum(graph_.first_edge.begin(), graph_.first_edge.end(), graph_.first_edge.begin());
    return {std::move(graph_), std::move(origins), {}};
  }

 private:
  std::vector<Node> nodes_;
  std::vector<std::pair<std::uint32_t, ReplayEdge>> edges_;  // by the node that waits
  std::unordered_map<std::string, std::uint32_t> numbers_;
  ReplayGraph graph_;
};

}  // namespace gf
