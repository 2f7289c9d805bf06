// The graphs of all ranks as one: collectives end when the last rank has arrived.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyze/ranks/ranks.h"
#include "analyze/replay/graph.h"
#include "core/time.h"

namespace gf {

struct JobGraph {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  ReplayGraph graph;                // on the common clock
  std::vector<std::uint32_t> part;  // by node: number in Job::parts, kNone for a collective's end
  std::vector<std::uint32_t> end;   // by shared collective that synchronises: node of its end
  std::vector<Nanos> transfer;      // by shared collective: from the last arrival to that
};

/// Joins the ranks that have a graph and a clock; none where that is fewer than two.
std::optional<JobGraph> join_graphs(const Job& job);

// The time that other ranks take for the same.

Nanos median_of(const std::vector<Nanos>& values);

/// The time that other ranks take for the same. A rank's instances of a name, from the shortest to
/// the longest, are compared with those of its peers: the tail of a distribution is no fault of the
/// rank that shows it, unless the others' is shorter.
class Peers {
 public:
  struct Value {
    std::uint32_t name = 0, part = 0;
    Nanos time = 0;
    std::uint32_t node = 0;
    auto operator<=>(const Value&) const = default;
  };

  Peers(std::vector<Value> values, std::size_t nodes);

  bool known(std::uint32_t node) const { return usual_[node] != kNone; }
  /// Only of nodes whose name another rank has, too.
  Nanos of(std::uint32_t node) const { return usual_[node]; }

 private:
  static constexpr Nanos kNone = INT64_MIN;

  void learn(const std::vector<std::span<const Value>>& ranks, std::size_t rank);

  std::vector<Nanos> usual_;  // by node
};

}  // namespace gf
