// A captured program that runs again with something changed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/context.h"
#include "analyze/replay/build_graph.h"
#include "analyze/replay/host_cuts.h"
#include "analyze/replay/mendings.h"
#include "analyze/replay/what_if.h"
#include "analyze/work/kernel_work.h"

namespace gf {

/// True if the change is of the link that collectives use.
inline bool is_linked(const WhatIfChanges& changes) {
  return changes.link != 1 || changes.link_bytes_per_s > 0;
}

/// The graph of the device that works most, and what a step of it is.
class Program {
 public:
  Program(const Context& context, const DeviceTimeline& line, Interval span,
          const work::KernelWorks* works);

  std::size_t steps() const { return step_begins_.empty() ? 0 : step_begins_.size() - 1; }
  /// The largest number of changes to turn on and off: each one more doubles the runs.
  std::size_t most_switches() const;
  std::int64_t device() const { return capture_.devices.id[line_.device]; }
  Nanos captured() const;
  bool empty() const { return graph_.size() == 0; }
  /// True if a step is made one by a jit, as JAX's are.
  bool is_jitted() const { return !inside_step_.empty(); }

  /// Works out what `changes` do to kernels; before step_with().
  void prepare(const WhatIfChanges& changes);
  /// True if a change of kernels alone finds none that it would change: its gain is not known.
  bool finds_nothing(const WhatIfChanges& changes) const;

  /// A step with the changes.
  Nanos step_with(const WhatIfChanges& changes, const Outlook& outlook) const {
    return steps_with(changes, {&outlook, 1}).front();
  }
  /// The same for several outlooks; what is cut out of the host's time is worked out once for those
  /// that stand together and cut the same.
  std::vector<Nanos> steps_with(const WhatIfChanges& changes,
                                std::span<const Outlook> outlooks) const;

  /// The number of times that the host no longer waits for the device.
  std::size_t waits_gone(const WhatIfChanges& changes) const;
  /// Share of the time in which the device idles and no edge explains why it had not begun. A graph
  /// begins as its launch ends.
  Share unexplained() const;
  /// Share of the time in which the device works.
  double busy() const;

  ReplayedPart part() const { return {line_.device, span_, built_}; }

  /// True if a part of a name means anything here.
  bool has_kernel(const std::string& part) const;
  bool has_operator(const std::string& part) const;

 private:
  // A device that waits longer for what comes before has another reason, which no capture shows.
  static constexpr Nanos kExplained = 25 * kNsPerUs;
  static constexpr std::string_view kExchange = "exchange", kLink = "link";  // among mendings
  struct MendedNode {
    std::uint32_t node;
    MendedTime time;
  };
  struct InGraph {
    std::vector<MendedNode> kernels;  // in order
    HostCutter::OfThreads host;       // time that is gone
  };
  /// The parts that a change takes away, looked up once.
  struct Asked {
    explicit Asked(const WhatIfChanges& changes);
    bool sync, copies, allocations, communication, input;
  };
  class Changed;  // the graph with a change, node by node
  template <std::size_t kRuns>
  class StepEnds;

  /// The one that the context has, where it is of this part.
  static std::shared_ptr<const BuiltGraph> graph_of(const Context& context,
                                                    const DeviceTimeline& line, Interval span);
  Interval window() const {
    return {std::max(line_.window.start, span_.start), std::min(line_.window.end, span_.end)};
  }
  /// As graph_.is_host(), without a look at names.
  bool is_host(std::uint32_t node) const { return host_[node] != 0; }

  void place_in_steps();
  void find_outside();
  void find_inside_of_steps();
  void put_in_graph(std::string_view name, Mending mending);

  std::vector<const InGraph*> mended_by(const WhatIfChanges& changes) const;
  std::vector<const HostCutter::OfThreads*> host_mended_by(const WhatIfChanges& changes) const;
  std::span<const MendedNode> mended_nodes(const WhatIfChanges& changes,
                                           std::vector<MendedNode>& several) const;

  void run_as_it_is();
  std::vector<Nanos> run(Changed& changed) const;
  template <std::size_t kRuns>
  std::vector<Nanos> run_together(Changed& changed) const;

  double with_batch(std::uint32_t row, double time, double batch) const;
  bool launched_by(std::uint32_t row, const std::vector<bool>& operations) const;
  bool is_jitted_away(std::uint32_t node, const WhatIfChanges& changes) const {
    return changes.graph && !inside_step_.empty() && inside_step_[node];
  }
  bool waited(std::uint32_t node) const;
  Nanos call_of(std::uint32_t node) const;
  bool is_launch(std::uint32_t call) const;
  bool no_longer_waits(std::uint32_t call, const Asked& asked, const HostCuts& cuts) const;

  const Context& context_;
  const Capture& capture_;
  const DeviceTimeline& line_;
  const Interval span_;
  const work::KernelWorks* works_;
  std::optional<work::KernelWorks> own_works_;
  std::map<std::string, InGraph, std::less<>> mendings_;  // by name
  std::shared_ptr<const BuiltGraph> built_;
  const ReplayGraph& graph_;
  HostCutter cutter_;
  EndPlaces places_;
  std::vector<std::uint8_t> host_;  // by node: 1 for points of the host
  // Without changes, by what recording takes: lags by edge of the host's own time, and steps.
  using OwnLags = std::array<std::int32_t, 4>;
  static constexpr std::int32_t kLong = INT32_MIN;  // as the first: they do not fit
  std::vector<OwnLags> own_lags_;
  std::vector<Nanos> own_steps_;
  std::vector<std::uint32_t> node_of_;  // by row of activities, once a mending asks
  std::vector<bool> inside_step_;  // by node, of a host's: what a jitted function has no need of
  // The first node of each step, and of what is behind the last; empty where there is none, or one.
  std::vector<std::uint32_t> step_begins_;
  bool follow_each_other_ = false;  // two of them at least have activities
  Nanos outside_ = 0;               // of one step
  std::vector<bool> counts_;        // by step: it is no start-up and no outlier
};

}  // namespace gf
