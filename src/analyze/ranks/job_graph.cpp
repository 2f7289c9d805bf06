#include "analyze/ranks/job_graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyze/collective_type.h"
#include "analyze/replay/graph.h"
#include "core/statistics.h"

namespace gf {

namespace {

class Joiner {
 public:
  explicit Joiner(const Job& job) : job_(job) {}

  /// Adds the ranks that have a graph and a clock tied to the others'; gives their number.
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
    for (std::uint32_t number = 0; number < job_.shared.size(); ++number) {
      const auto type = job_.type_of(job_.shared[number]);
      if (synchronises(type) || point_to_point(type))
        end_together(number);
      else
        end_apart(number);
    }
  }

  JobGraph finish() && {
    begin_after_ends();
    const auto order = topological();
    end_of_ = {};
    out_.part.reserve(order.size());
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      out_.part.push_back(part_[order[i]]);
    }
    for (auto& end : out_.end)
      if (end != JobGraph::kNone) end = place[end];
    part_ = {};
    place = {};
    out_.graph = std::move(draft_).finish(order);
    return std::move(out_);
  }

 private:
  std::uint32_t add_node(const GraphDraft::Node& node, std::uint32_t part) {
    part_.push_back(part);
    end_of_.push_back(JobGraph::kNone);
    return draft_.add(node);
  }

  void add_rank(std::uint32_t number, const ReplayGraph& graph) {
    const auto base = static_cast<std::uint32_t>(draft_.size());
    auto& of_row = node_of_row_[number];
    std::vector<std::uint32_t> names;
    for (const auto& name : graph.names) names.push_back(draft_.name(name));
    for (std::uint32_t node = 0; node < graph.size(); ++node) {
      const auto row = graph.collective[node];
      const auto added =
          add_node({job_.clocks[number].common(graph.start_ns[node]), graph.duration_ns[node],
                    names[graph.name[node]], row, graph.input_ns[node], graph.profiler_ns[node]},
                   number);
      if (row >= 0 && static_cast<std::size_t>(row) < of_row.size())
        of_row[static_cast<std::size_t>(row)] = added;
      for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
        const ReplayEdge& edge = graph.edges[i];
        draft_.add_edge(edge.from + base, added, edge.why, edge.lag);
      }
    }
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
    const Nanos first = draft_.start(nodes.front());
    Nanos last = INT64_MIN;
    std::vector<double> ends;
    for (const auto node : nodes) {
      last = std::max(last, draft_.start(node));
      ends.push_back(static_cast<double>(draft_.end(node) - first));
    }
    const Nanos end = first + static_cast<Nanos>(median(std::move(ends)));
    const Nanos transfer = std::max(kLeast, end - last);
    const auto node = add_node({last + transfer}, JobGraph::kNone);
    for (const auto member : nodes) {
      draft_.add_edge(member, node, WaitsFor::ranks, transfer);
      end_of_[member] = node;
    }
    out_.end[shared] = node;
    out_.transfer[shared] = transfer;
  }

  /// Each rank waits for the last of those that arrived before it left.
  void end_apart(std::uint32_t shared) {
    const auto nodes = members(shared);
    for (const auto member : nodes) {
      const Nanos end = draft_.end(member);
      auto waited_for = member;
      for (const auto other : nodes)
        if (draft_.start(other) < end && draft_.start(other) > draft_.start(waited_for))
          waited_for = other;
      if (waited_for == member) continue;
      const auto node = add_node({end}, part_[member]);
      const Nanos moved = end - draft_.start(waited_for);
      draft_.add_edge(member, node, WaitsFor::ranks, moved);
      draft_.add_edge(waited_for, node, WaitsFor::ranks, moved);
      end_of_[member] = node;
    }
  }

  /// Nodes that waited for a rank's part of a collective wait for its end.
  void begin_after_ends() {
    for (auto& [to, edge] : draft_.waits()) {
      const auto end = end_of_[edge.from];
      if (end == JobGraph::kNone || edge.why == WaitsFor::ranks) continue;
      edge.lag += draft_.end(edge.from) - draft_.start(end);
      edge.from = end;
    }
    for (std::uint32_t node = 0; node < end_of_.size(); ++node)
      if (end_of_[node] != JobGraph::kNone) draft_.take_no_time(node);
  }

  /// Captured times of several ranks agree to microseconds only: an order from the edges alone.
  /// Edges that close a cycle go backward and are left out.
  std::vector<std::uint32_t> topological() const {
    const auto count = static_cast<std::uint32_t>(draft_.size());
    std::vector<std::uint32_t> waits(count, 0), first(count + 1, 0), to(draft_.waits().size());
    for (const auto& [node, edge] : draft_.waits()) {
      ++waits[node];
      ++first[edge.from + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    auto next = first;
    for (const auto& [node, edge] : draft_.waits()) to[next[edge.from]++] = node;
    std::vector<std::uint32_t> ready, order;
    std::vector<bool> placed(count, false);
    order.reserve(count);
    auto drain = [&] {
      while (!ready.empty()) {
        const auto node = ready.back();
        ready.pop_back();
        placed[node] = true;
        order.push_back(node);
        for (auto i = first[node]; i < first[node + 1]; ++i)
          if (!placed[to[i]] && --waits[to[i]] == 0) ready.push_back(to[i]);
      }
    };
    for (std::uint32_t node = 0; node < count; ++node)
      if (waits[node] == 0) ready.push_back(node);
    drain();
    for (std::uint32_t node = 0; order.size() < count; ++node) {
      if (placed[node]) continue;
      waits[node] = 0;
      ready.push_back(node);
      drain();
    }
    return order;
  }

  const Job& job_;
  JobGraph out_;
  GraphDraft draft_;
  std::vector<std::uint32_t> part_, end_of_;             // by node
  std::vector<std::vector<std::uint32_t>> node_of_row_;  // by part and row
};

}  // namespace

std::optional<JobGraph> join_graphs(const Job& job) {
  Joiner joiner(job);
  if (joiner.add_ranks() < 2) return {};
  joiner.add_collectives();
  return std::move(joiner).finish();
}

Nanos median_of(const std::vector<Nanos>& values) {
  return static_cast<Nanos>(median(std::vector<double>(values.begin(), values.end())));
}

Peers::Peers(std::vector<Value> values, std::size_t nodes) : usual_(nodes, kNone) {
  std::ranges::sort(values);
  for (auto at = values.begin(); at != values.end();) {
    std::vector<std::span<const Value>> ranks;
    const auto name = at->name;
    while (at != values.end() && at->name == name) {
      const auto from = at;
      while (at != values.end() && at->name == name && at->part == from->part) ++at;
      ranks.push_back({from, at});
    }
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) learn(ranks, rank);
  }
}

void Peers::learn(const std::vector<std::span<const Value>>& ranks, std::size_t rank) {
  constexpr std::size_t kAsked = 8;  // peers, of which the median counts
  if (ranks.size() < 2) return;
  const auto own = ranks[rank];
  const std::size_t others = std::min(kAsked, ranks.size() - 1);
  std::vector<Nanos> times(others);
  for (std::size_t i = 0; i < own.size(); ++i) {
    for (std::size_t other = 0; other < others; ++other) {
      const auto& theirs = ranks[(rank + 1 + other * (ranks.size() - 1) / others) % ranks.size()];
      times[other] = theirs[(2 * i + 1) * theirs.size() / (2 * own.size())].time;
    }
    usual_[own[i].node] = std::min(own[i].time, median_of(times));
  }
}

}  // namespace gf
