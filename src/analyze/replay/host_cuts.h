// Host time that a change removes: pieces of its threads, taken out before a program
// runs again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/context.h"
#include "analyze/replay/mendings.h"
#include "analyze/replay/what_if.h"
#include "core/intervals.h"

namespace gf {

// Recording overhead of an event, over the usual: 0.8 and 3.0 us against 1.9.
inline constexpr double kCheap = 0.42, kUsual = 1, kDear = 1.58;

// Other work of a host for so long is none of its launching: no graph takes it away.
inline constexpr Nanos kLongPause = kNsPerMs;

/// Assumptions about mended kernels and recording.
struct Outlook {
  double recording = kUsual;  // what it takes, times what it usually does
  double MendedTime::* kernels = &MendedTime::about;
  bool whole = false;  // with the change goes what only led there: who mends a program may do more
  double host = 1, gpu = 1;  // times as fast, beside what the change asks for: cuts nothing
  bool worst() const { return kernels == &MendedTime::worst; }
  bool cuts_as(const Outlook& other) const {
    return worst() == other.worst() && whole == other.whole;
  }
};

inline bool asks(const WhatIfChanges& changes, Without what) {
  return std::ranges::find(changes.without, what) != changes.without.end();
}

/// True if a claim is of host time alone, with no device activity.
inline bool is_of_host(const FindingClaim& claim) {
  return claim.time.activities.empty() && claim.time.changed.empty();
}

/// Host time that is taken out.
struct HostCuts {
  std::vector<Intervals> lines;                // all of it, by line
  std::map<std::uint32_t, Intervals> removed;  // in operators that are gone, by thread
  Intervals claimed;                           // by findings, on every thread
  Intervals copying;                           // calls whose copies are gone, on every thread
  Intervals copied;                            // calls that wait for copies that are gone
  Intervals stays;                             // pauses of the host, which are part of no graph
  const std::vector<bool>* reads = nullptr;    // operators that exist to wait are gone, too
};

class HostCutter {
 public:
  using OfThreads = std::unordered_map<std::uint32_t, Intervals>;

  /// Covers the launches in `span`. `lines`: threads that are one line, as BuiltGraph has them.
  HostCutter(const Context& context, const DeviceTimeline& line, Interval span,
             const std::vector<std::vector<std::uint32_t>>& lines);

  /// `mended`: time that is gone with kernels.
  HostCuts cuts_of(const WhatIfChanges& changes, const Outlook& outlook,
                   const std::vector<const OfThreads*>& mended) const;
  /// True if a change takes an operator away by its name.
  bool is_removed(std::uint32_t op, const WhatIfChanges& changes) const;
  /// Those that go, with what lies inside them: by row of host_ops; empty where none is asked for.
  std::vector<bool> removed_by(const WhatIfChanges& changes) const;
  /// When a line's threads compiled, recorded graphs or loaded modules.
  const Intervals& one_off(std::size_t line) const { return one_off_[line]; }

 private:
  template <class Wanted>
  Intervals ops_of(const std::vector<std::uint32_t>& threads, Wanted&& wanted) const;
  Intervals calls_of(const std::vector<std::uint32_t>& threads, ApiKind kind) const;
  Intervals idle_by(IdleReason reason, Nanos least) const;
  Intervals copies_around(const Intervals& pauses) const;
  Intervals waits_for_copies(const std::vector<std::uint32_t>& threads) const;
  void close_gaps(const std::vector<std::uint32_t>& threads, Intervals& gone) const;
  const std::vector<bool>& reads() const;
  const std::vector<bool>& waiting_operators() const;

  const Context& context_;
  const Capture& capture_;
  const DeviceTimeline& line_;
  const Interval span_;
  const std::vector<std::vector<std::uint32_t>>& lines_;
  std::vector<Intervals> one_off_;             // by line
  Intervals long_pauses_;                      // of kLongPause and more
  mutable std::vector<bool> reads_, waiting_;  // by row of host_ops
};

}  // namespace gf
