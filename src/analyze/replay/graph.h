// A captured program as what waited for what, so that it can run again with something changed
// (docs/replay.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/column.h"
#include "core/error.h"
#include "core/time.h"

namespace gf {

/// The lag of an edge that no longer holds.
inline constexpr Nanos kNoWait = INT64_MIN / 4;
/// Recording takes no more than this share of a stretch of the host.
inline constexpr double kMostOfStretch = 0.85;

/// The reason why a node cannot begin earlier.
enum class WaitsFor : std::uint8_t {
  host,          // what its thread did before
  launch,        // the call that launched it
  stream,        // the activity before it on its stream
  other_stream,  // an activity of another stream
  device,        // a blocking call: the activity that it waited for
  ranks,         // a collective's end: the arrivals
};

/// A node begins no earlier than `lag` after the end of `from`.
struct ReplayEdge {
  std::uint32_t from = 0;
  WaitsFor why = WaitsFor::host;
  Nanos lag = 0;
};

/// Nodes are points of host threads and activities of devices, in an order in which every edge
/// comes from an earlier one.
struct ReplayGraph {
  static constexpr std::int64_t kNone = -1;

  std::vector<Nanos> start_ns, duration_ns;  // as captured; the duration of a host's point is 0
  std::vector<std::uint32_t> name;           // in `names`: equal ones are compared across ranks
  std::vector<std::int64_t> collective;      // row of the rank's collectives, or kNone
  std::vector<Nanos> input_ns;     // of a host's point: waiting for input on the way there
  std::vector<Nanos> profiler_ns;  // of a host's point: about what recording took on the way there
  std::vector<std::uint32_t> first_edge{0};  // by node, and one more
  std::vector<ReplayEdge> edges;             // to the node, node after node
  /// For activities a digest of kernel and grid; for host points kHostMark and the digests of the
  /// point before and of their own, which together name the stretch between them.
  std::vector<std::string> names;

  std::size_t size() const { return start_ns.size(); }
  bool is_host(std::size_t node) const { return names[name[node]].front() == kHostMark; }
  static constexpr char kHostMark = '@';  // begins the names of host points
};

/// A job whose packed graphs are larger together is not run again: it takes some 30 bytes of memory
/// for each of theirs.
inline constexpr std::size_t kMostPackedGraphs = std::size_t{64} << 20;

/// As text for a rank's part; without the names.
std::string pack(const ReplayGraph& graph);
/// Errors: a text that pack() did not write.
Result<ReplayGraph> unpack(std::string_view text, std::vector<std::string> names);

/// Ends of all nodes when the graph runs with these durations (by node) and lags (by edge).
/// O(nodes + edges).
std::vector<Nanos> replay(const ReplayGraph& graph, const std::vector<Nanos>& duration,
                          const std::vector<Nanos>& lag);

/// Values of several runs, side by side.
template <std::size_t kRuns>
using OfRuns = std::vector<std::array<Nanos, kRuns>>;

/// apply(run) for each, laid out one after the other: loops over so few cost more than what they
/// do, and would keep the values of a node in memory.
template <std::size_t kRuns, class F>
[[gnu::always_inline]] inline void each_run(F&& apply) {
  [&]<std::size_t... kRun>(std::index_sequence<kRun...>) {
    (apply(kRun), ...);
  }(std::make_index_sequence<kRuns>());
}

/// Where a run keeps the end of each node: only until the last node that waits for it has begun, so
/// that all of them stay in the processor's cache.
struct EndPlaces {
  explicit EndPlaces(const ReplayGraph& graph);
  std::vector<std::uint32_t> of_node, of_edge;  // of_edge: that of the node it comes from
  std::uint32_t count = 0;
};

/// replay() of several runs: together they cost little more than one. `wait(node, edge, ends,
/// times)` makes the times no earlier than the edge allows after these ends of the node that it
/// comes from; `work(node, times)` makes starts to ends. Both are asked in order.
template <std::size_t kRuns, class Wait, class Work>
void replay_runs(const ReplayGraph& graph, const EndPlaces& places, Wait&& wait, Work&& work) {
  OfRuns<kRuns> ends(places.count);
  std::uint32_t edge = 0;
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    const auto last = graph.first_edge[node + 1];
    std::array<Nanos, kRuns> times;
    const Nanos least = edge < last ? INT64_MIN : graph.start_ns[node];
    each_run<kRuns>([&](std::size_t run) { times[run] = least; });
    for (; edge < last; ++edge) wait(node, edge, ends[places.of_edge[edge]], times);
    work(node, times);
    auto& kept = ends[places.of_node[node]];
    each_run<kRuns>([&](std::size_t run) { kept[run] = times[run]; });
  }
}

/// A graph that is to run many times, each time with a few other durations and lags: only the nodes
/// that these reach are computed again. Shared by the runs of all threads.
class ReplayBase {
 public:
  /// `lag` by edge, of the run without changes.
  ReplayBase(const ReplayGraph& graph, std::vector<Nanos> lag);

  const ReplayGraph& graph() const { return graph_; }
  const std::vector<Nanos>& lag() const { return lag_; }
  /// From the first start to the last end.
  Nanos span() const { return latest_.empty() ? 0 : end_[latest_.front()] - first_start_; }

 private:
  friend class Rerun;

  const ReplayGraph& graph_;
  std::vector<Nanos> lag_, end_;
  std::vector<std::uint32_t> first_out_, out_;  // nodes that wait for each, by node
  std::vector<std::uint32_t> latest_;           // nodes from the last end to the first
  Nanos first_start_ = 0;
};

/// The runs of one thread: it holds their ends and the few values that a run changes.
class Rerun {
 public:
  using Values = std::vector<std::pair<std::uint32_t, Nanos>>;  // by node, or by edge; the last of
                                                                // a number counts

  explicit Rerun(const ReplayBase& base);
  /// The span with these durations and lags. O(what they reach + nodes / 4096).
  Nanos span(const Values& durations, const Values& lags);

 private:
  /// Few values that are other than those of the base.
  class Changed {
   public:
    explicit Changed(std::size_t size) : has_(size / 64 + 1, 0) {}
    void set(const Values& values);
    void clear();
    Nanos of(std::uint32_t number, Nanos otherwise) const {
      return has_[number / 64] >> number % 64 & 1 ? value(number) : otherwise;
    }

   private:
    Nanos value(std::uint32_t number) const;

    std::vector<std::uint64_t> has_;  // a bit for each number
    Values values_;                   // by number
  };

  void ask(std::uint32_t node) {
    asked_[node / 64] |= std::uint64_t{1} << node % 64;
    words_[node / 4096] |= std::uint64_t{1} << node / 64 % 64;
  }
  void run(std::uint32_t node);

  const ReplayBase& base_;
  Changed durations_, lags_;
  std::vector<Nanos> end_;
  std::vector<std::uint64_t> asked_;  // a bit for each node that is to be computed
  std::vector<std::uint64_t> words_;  // a bit for each word of these that has some
  std::vector<std::uint32_t> moved_;  // nodes with another end
};

// A graph while it is put together, in any order.

class GraphDraft {
 public:
  struct Node {
    Nanos start = 0, duration = 0;
    std::uint32_t name = 0;
    std::int64_t collective = ReplayGraph::kNone;
    Nanos input = 0, profiler = 0;
  };
  struct Wait {
    std::uint32_t to = 0;  // the node that waits
    ReplayEdge edge;
  };

  /// Room for so many nodes and the edges to them, of which few have more than two.
  void reserve(std::size_t nodes) {
    start_.reserve(nodes);
    duration_.reserve(nodes);
    name_.reserve(nodes);
    for (auto* column : {&collective_, &input_, &profiler_}) column->reserve(nodes);
    waits_.reserve(2 * nodes);
  }
  std::uint32_t add(const Node& node) {
    start_.push_back(node.start);
    duration_.push_back(node.duration);
    name_.push_back(node.name);
    collective_.push_back(node.collective);
    input_.push_back(node.input);
    profiler_.push_back(node.profiler);
    return static_cast<std::uint32_t>(start_.size() - 1);
  }
  void add_edge(std::uint32_t from, std::uint32_t to, WaitsFor why, Nanos lag) {
    waits_.push_back({to, {from, why, lag}});
  }
  /// The number of a name, added when new.
  std::uint32_t name(const std::string& text);

  std::size_t size() const { return start_.size(); }
  Nanos start(std::uint32_t node) const { return start_[node]; }
  Nanos end(std::uint32_t node) const { return start_[node] + duration_[node]; }
  void take_no_time(std::uint32_t node) { duration_[node] = 0; }
  Column<Wait>& waits() { return waits_; }
  const Column<Wait>& waits() const { return waits_; }

  /// Nodes by start.
  std::vector<std::uint32_t> by_start() const;
  /// The graph with its nodes in this order; edges from later nodes are left out.
  ReplayGraph finish(const std::vector<std::uint32_t>& order) &&;

 private:
  std::vector<Nanos> start_, duration_;
  std::vector<std::uint32_t> name_;
  Column<Nanos> collective_, input_, profiler_;  // of most nodes nothing
  Column<Wait> waits_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace gf
