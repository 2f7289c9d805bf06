// A captured program that runs again with something changed.
#pragma once

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

  std::size_t steps() const { return steps_; }
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
  static constexpr std::string_view kExchange = "exchange", kLink = "link";  // among mendings
  struct InGraph {
    std::vector<std::pair<std::uint32_t, MendedTime>> kernels;  // by node
    HostCutter::OfThreads host;                                 // time that is gone
  };
  /// The parts that a change takes away, looked up once.
  struct Asked {
    explicit Asked(const WhatIfChanges& changes);
    bool sync, copies, allocations, communication, input;
  };
  /// The host's own time before one of its points, as captured.
  struct Stretch {
    std::uint32_t edge, node;
    double own, recorded;  // without input; what recording took of it, about
    Nanos length, one_off, input;
  };
  /// The rest of a stretch under a change, before recording.
  struct Left {
    double kept = 1;  // share that is not cut
    double most;      // that a graph leaves
    Nanos input;
    bool gone = false;  // with what led there, or in a jitted function
  };

  /// The one that the context has, where it is of this part.
  static std::shared_ptr<const BuiltGraph> graph_of(const Context& context,
                                                    const DeviceTimeline& line, Interval span);
  Interval window() const {
    return {std::max(line_.window.start, span_.start), std::min(line_.window.end, span_.end)};
  }
  /// As graph_.is_host(), without a look at names.
  bool is_host(std::uint32_t node) const { return built_->origins[node].line != kNoRow; }

  void place_in_steps();
  void find_outside();
  void find_inside_of_steps();
  void sort_edges();
  void put_in_graph(std::string_view name, Mending mending);
  template <class EndOf>
  Nanos step_of(EndOf&& end_of, const std::vector<Nanos>& duration) const;

  std::vector<const InGraph*> mended_by(const WhatIfChanges& changes) const;
  std::vector<const HostCutter::OfThreads*> host_mended_by(const WhatIfChanges& changes) const;
  std::vector<MendedTime> mended_times(const WhatIfChanges& changes) const;

  void run_alike(const WhatIfChanges& changes, std::span<const Outlook> outlooks,
                 const HostCuts& cuts, const std::vector<MendedTime>& mended_time,
                 std::vector<Nanos>& steps) const;
  static Nanos lag_of(const Stretch& stretch, const Left& left, double recording, double faster);
  /// The step of one outlook; `other_lags` are those of edges that are no stretches.
  Nanos run_alone(const Outlook& outlook, double host, const std::vector<Nanos>& duration,
                  const std::vector<Nanos>& other_lags, const std::vector<Left>& left) const;
  /// The same of several that differ in recording and in the host's speed alone.
  template <std::size_t kRuns>
  void run_together(std::span<const Outlook> outlooks, double host,
                    const std::vector<Nanos>& duration, const std::vector<Nanos>& other_lags,
                    const std::vector<Left>& left, std::vector<Nanos>& steps) const;
  /// True if nothing of the host's own time goes.
  bool all_stays(const std::vector<Left>& left) const;
  /// A step without changes: many ask for what a program does not have.
  Nanos own_step(double recording) const;
  std::vector<Nanos> changed_durations(const WhatIfChanges& changes, const Asked& asked,
                                       const HostCuts& cuts, const Outlook& outlook,
                                       const std::vector<MendedTime>& mended_time) const;
  Nanos changed_duration(std::uint32_t node, const WhatIfChanges& changes, double gpu,
                         const Asked& asked, const HostCuts& cuts,
                         const std::vector<bool>& removed) const;
  std::vector<Nanos> changed_lags(const WhatIfChanges& changes, const Asked& asked,
                                  const HostCuts& cuts,
                                  const std::vector<MendedTime>& mended_time) const;
  std::vector<Left> left_of(const WhatIfChanges& changes, const Asked& asked, const HostCuts& cuts,
                            bool whole) const;

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
  mutable std::map<double, Nanos> own_steps_;  // by what recording takes
  std::vector<Nanos> lag_;                     // by edge, as captured
  std::vector<std::uint32_t> from_;            // by edge: the node that it comes from
  std::vector<Stretch> stretches_;             // edges of the host's own time
  // Node and edge: for a device; of an activity behind another one on its stream.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> waits_, behind_;
  std::vector<std::uint32_t> node_of_;  // by row of activities, once a mending asks
  std::vector<bool> inside_step_;  // by node, of a host's: what a jitted function has no need of
  std::size_t steps_ = 0;          // 0: none, or one
  Nanos outside_ = 0;              // of one step
  std::vector<bool> counts_;       // by step: it is no start-up and no outlier
  std::vector<std::pair<std::uint32_t, std::uint32_t>> in_step_;  // activities with their steps
};

}  // namespace gf
