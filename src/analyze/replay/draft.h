// A graph while it is put together, in any order.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/replay/graph.h"

namespace gf {

class GraphDraft {
 public:
  struct Node {
    Nanos start = 0, duration = 0;
    std::uint32_t name = 0;
    std::int64_t collective = ReplayGraph::kNone;
    Nanos input = 0, profiler = 0;
    Nanos end() const { return start + duration; }
  };
  struct Wait {
    std::uint32_t to = 0;  // the node that waits
    ReplayEdge edge;
  };

  std::uint32_t add(const Node& node) {
    nodes_.push_back(node);
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  void add_edge(std::uint32_t from, std::uint32_t to, WaitsFor why, Nanos lag) {
    waits_.push_back({to, {from, why, lag}});
  }
  /// The number of a name, added when new.
  std::uint32_t name(const std::string& text);

  std::size_t size() const { return nodes_.size(); }
  Node& at(std::uint32_t node) { return nodes_[node]; }
  const Node& at(std::uint32_t node) const { return nodes_[node]; }
  std::vector<Wait>& waits() { return waits_; }
  const std::vector<Wait>& waits() const { return waits_; }

  /// Nodes by start.
  std::vector<std::uint32_t> by_start() const;
  /// The graph with its nodes in this order; edges from later nodes are left out.
  ReplayGraph finish(const std::vector<std::uint32_t>& order) &&;

 private:
  std::vector<Node> nodes_;
  std::vector<Wait> waits_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace gf
