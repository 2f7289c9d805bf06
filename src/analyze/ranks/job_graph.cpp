#include "analyze/ranks/job_graph.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "analyze/ranks/identity.h"
#include "core/statistics.h"

namespace gf {

namespace {

struct Edge {
  std::uint32_t to = 0;
  ReplayEdge edge;
};

class Joiner {
 public:
  explicit Joiner(const Job& job) : job_(job) {}

  /// How many ranks have a graph and a clock that is tied to the others'.
  std::size_t add_ranks() {
    std::size_t count = 0;
    node_of_row_.resize(job_.parts.size());
    for (std::uint32_t number = 0; number < job_.parts.size(); ++number) {
      const auto& part = job_.parts[number];
      node_of_row_[number].resize(part.collectives.start_ns.size(), JobGraph::kNone);
      if (part.graph.nodes.empty() || !job_.clocks[number].known) continue;
      const auto graph = unpack(part.graph.nodes, part.graph.names);
      if (!graph) continue;
      add_rank(number, *graph);
      ++count;
    }
    return count;
  }

  void add_collectives() {
    out_.end.assign(job_.shared.size(), JobGraph::kNone);
    out_.transfer.assign(job_.shared.size(), 0);
    end_of_.assign(nodes_.start_ns.size(), JobGraph::kNone);
    for (std::uint32_t number = 0; number < job_.shared.size(); ++number) {
      const auto& arrivals = job_.shared[number].arrivals;
      const RankPart& part = job_.parts[arrivals.front().part];
      const auto type = static_cast<CollectiveType>(part.collectives.type[arrivals.front().row]);
      if (synchronises(type) || point_to_point(type))
        end_together(number);
      else
        end_apart(number);
    }
  }

  JobGraph finish() && {
    begin_after_ends();
    order();
    return std::move(out_);
  }

 private:
  std::uint32_t add_node(Nanos start, Nanos duration, std::uint32_t name, std::uint32_t part) {
    nodes_.start_ns.push_back(start);
    nodes_.duration_ns.push_back(duration);
    nodes_.name.push_back(name);
    nodes_.collective.push_back(ReplayGraph::kNone);
    nodes_.input_ns.push_back(0);
    nodes_.profiler_ns.push_back(0);
    part_.push_back(part);
    return static_cast<std::uint32_t>(part_.size() - 1);
  }

  void add_rank(std::uint32_t number, const ReplayGraph& graph) {
    const auto base = static_cast<std::uint32_t>(part_.size());
    auto& of_row = node_of_row_[number];
    std::vector<std::uint32_t> names;
    for (const auto& name : graph.names) {
      const auto [at, added] =
          names_.try_emplace(name, static_cast<std::uint32_t>(nodes_.names.size()));
      if (added) nodes_.names.push_back(name);
      names.push_back(at->second);
    }
    for (std::uint32_t node = 0; node < graph.size(); ++node) {
      const auto added = add_node(job_.clocks[number].common(graph.start_ns[node]),
                                  graph.duration_ns[node], names[graph.name[node]], number);
      nodes_.input_ns[added] = graph.input_ns[node];
      nodes_.profiler_ns[added] = graph.profiler_ns[node];
      const auto row = graph.collective[node];
      nodes_.collective[added] = row;
      if (row >= 0 && static_cast<std::size_t>(row) < of_row.size())
        of_row[static_cast<std::size_t>(row)] = added;
      for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
        ReplayEdge edge = graph.edges[i];
        edge.from += base;
        edges_.push_back({added, edge});
      }
    }
  }

  Nanos end_ns(std::uint32_t node) const {
    return nodes_.start_ns[node] + nodes_.duration_ns[node];
  }

  std::vector<std::uint32_t> members(std::uint32_t shared) const {
    std::vector<std::uint32_t> nodes;
    for (const auto& arrival : job_.shared[shared].arrivals)
      if (const auto node = node_of_row_[arrival.part][arrival.row]; node != JobGraph::kNone)
        nodes.push_back(node);
    return nodes;
  }

  /// No rank leaves before all have arrived and the data has moved.
  void end_together(std::uint32_t shared) {
    constexpr Nanos kLeast = kNsPerUs / 2;
    const auto nodes = members(shared);
    if (nodes.size() < 2) return;
    Nanos last = INT64_MIN;
    std::vector<double> ends;
    for (const auto node : nodes) {
      last = std::max(last, nodes_.start_ns[node]);
      ends.push_back(static_cast<double>(end_ns(node) - nodes_.start_ns[nodes.front()]));
    }
    const Nanos end = nodes_.start_ns[nodes.front()] + static_cast<Nanos>(median(std::move(ends)));
    const Nanos transfer = std::max(kLeast, end - last);
    const auto node = add_node(last + transfer, 0, 0, JobGraph::kNone);
    end_of_.resize(part_.size(), JobGraph::kNone);
    for (const auto member : nodes) {
      edges_.push_back({node, {member, WaitsFor::ranks, transfer}});
      end_of_[member] = node;
    }
    out_.end[shared] = node;
    out_.transfer[shared] = transfer;
  }

  /// Each rank waits for the last of those that arrived before it left.
  void end_apart(std::uint32_t shared) {
    const auto nodes = members(shared);
    for (const auto member : nodes) {
      const Nanos end = end_ns(member);
      auto waited_for = member;
      for (const auto other : nodes)
        if (nodes_.start_ns[other] < end && nodes_.start_ns[other] > nodes_.start_ns[waited_for])
          waited_for = other;
      if (waited_for == member) continue;
      const auto node = add_node(end, 0, 0, part_[member]);
      end_of_.resize(part_.size(), JobGraph::kNone);
      const Nanos moved = end - nodes_.start_ns[waited_for];
      edges_.push_back({node, {member, WaitsFor::ranks, moved}});
      edges_.push_back({node, {waited_for, WaitsFor::ranks, moved}});
      end_of_[member] = node;
    }
  }

  /// What waited for a rank's part of a collective waits for its end.
  void begin_after_ends() {
    for (auto& [to, edge] : edges_) {
      const auto end = end_of_[edge.from];
      if (end == JobGraph::kNone || edge.why == WaitsFor::ranks) continue;
      edge.lag += end_ns(edge.from) - nodes_.start_ns[end];
      edge.from = end;
    }
    for (std::size_t node = 0; node < end_of_.size(); ++node)
      if (end_of_[node] != JobGraph::kNone) nodes_.duration_ns[node] = 0;
  }

  /// Captured times of several ranks agree to microseconds only: an order from the edges alone.
  /// Of a circle the edges that close it are left out.
  void order() {
    const auto count = part_.size();
    std::vector<std::uint32_t> waits(count, 0), first(count + 1, 0), to(edges_.size());
    for (const auto& [node, edge] : edges_) {
      ++waits[node];
      ++first[edge.from + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    auto at = first;
    for (const auto& [node, edge] : edges_) to[at[edge.from]++] = node;
    std::vector<std::uint32_t> ready, place(count, JobGraph::kNone);
    for (std::uint32_t node = 0; node < count; ++node)
      if (waits[node] == 0) ready.push_back(node);
    std::vector<std::uint32_t> ordered;
    ordered.reserve(count);
    auto drain = [&] {
      while (!ready.empty()) {
        const auto node = ready.back();
        ready.pop_back();
        place[node] = static_cast<std::uint32_t>(ordered.size());
        ordered.push_back(node);
        for (auto i = first[node]; i < first[node + 1]; ++i)
          if (place[to[i]] == JobGraph::kNone && --waits[to[i]] == 0) ready.push_back(to[i]);
      }
    };
    drain();
    for (std::uint32_t node = 0; ordered.size() < count; ++node) {
      if (place[node] != JobGraph::kNone) continue;
      waits[node] = 0;
      ready.push_back(node);
      drain();
    }
    write(ordered, place);
  }

  void write(const std::vector<std::uint32_t>& ordered, const std::vector<std::uint32_t>& place) {
    ReplayGraph& graph = out_.graph;
    graph.names = std::move(nodes_.names);
    for (const auto node : ordered) {
      graph.start_ns.push_back(nodes_.start_ns[node]);
      graph.duration_ns.push_back(nodes_.duration_ns[node]);
      graph.name.push_back(nodes_.name[node]);
      graph.collective.push_back(nodes_.collective[node]);
      graph.input_ns.push_back(nodes_.input_ns[node]);
      graph.profiler_ns.push_back(nodes_.profiler_ns[node]);
      out_.part.push_back(part_[node]);
    }
    std::erase_if(edges_, [&](const Edge& one) { return place[one.edge.from] >= place[one.to]; });
    graph.first_edge.assign(ordered.size() + 1, 0);
    for (const auto& [to, edge] : edges_) ++graph.first_edge[place[to] + 1];
    std::partial_sum(graph.first_edge.begin(), graph.first_edge.end(), graph.first_edge.begin());
    graph.edges.resize(edges_.size());
    auto at = graph.first_edge;
    for (const auto& [to, edge] : edges_)
      graph.edges[at[place[to]]++] = {place[edge.from], edge.why, edge.lag};
    for (auto& end : out_.end)
      if (end != JobGraph::kNone) end = place[end];
  }

  const Job& job_;
  JobGraph out_;
  ReplayGraph nodes_;  // without edges
  std::vector<std::uint32_t> part_;
  std::vector<Edge> edges_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::vector<std::vector<std::uint32_t>> node_of_row_;  // by part and row
  std::vector<std::uint32_t> end_of_;                    // by node
};

}  // namespace

std::optional<JobGraph> join_graphs(const Job& job) {
  Joiner joiner(job);
  if (joiner.add_ranks() < 2) return {};
  joiner.add_collectives();
  return std::move(joiner).finish();
}

}  // namespace gf
