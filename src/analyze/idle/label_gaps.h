// Gives each stretch of a device's idle time its reason.
#pragma once

#include <unordered_map>
#include <vector>

#include "analyze/context.h"
#include "analyze/idle/idle_rules.h"
#include "analyze/idle/idle_sums.h"
#include "analyze/thread_sweep.h"
#include "model/launches.h"

namespace gf {

class GapLabeller {
 public:
  GapLabeller(const Context& context, const LaunchFacts& facts);

  /// The idle time of one device as pieces in order, one for each change of the reason; their
  /// lengths sum to total(line.idle). `sums` receives the same time by operator.
  std::vector<IdlePiece> label(const DeviceTimeline& line, IdleSums& sums);

 private:
  void label_gap(const IdleGap& gap);
  void label_host(const IdleGap& gap, Nanos from, Nanos to, std::size_t candidate);
  bool same_graph_launch(std::uint32_t before, std::uint32_t next) const;
  void emit(Nanos from, Nanos to, IdleReason reason, std::uint32_t op, std::uint32_t next);
  ThreadSweep& sweep(std::uint32_t thread);
  std::uint32_t main_thread(std::uint32_t thread) const;
  std::uint32_t launching_thread(std::uint32_t activity) const;

  const Context& context_;
  const Capture& capture_;
  IdleRules rules_;
  GraphCaptures captures_;
  std::vector<std::uint32_t> main_of_;  // by row of threads: the main thread of its process
  std::vector<std::uint32_t>
      after_window_;            // by row of devices: what starts first after its window
  std::size_t most_looked_at_;  // states of threads, over all devices
  std::size_t looked_at_ = 0;
  std::unordered_map<std::uint32_t, ThreadSweep> sweeps_;
  std::vector<std::uint32_t> candidates_;  // threads to ask for the present gap, in order
  std::vector<IdlePiece> pieces_;
  Nanos longest_ = 0;  // stretch that gave the last piece its operator
  IdleSums* sums_ = nullptr;
};

}  // namespace gf
