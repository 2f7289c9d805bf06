// The rules of docs/idle.md: which cause a stretch of idle time has, by what the host or the device
// did in it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/context.h"
#include "analyze/thread_sweep.h"

namespace gf {

/// Copies to the device below this size are scalars and indices of an operation, not the input of a
/// step; copies back below it are values that the host waits for.
inline constexpr std::int64_t kInputBytes = 4096;

// Facts about each call: what it started, whether its stream had been told to wait before, and
// whether it did one-off work.

struct LaunchFacts {
  std::vector<std::uint32_t>
      started;  // by row of api_calls: the first activity that the call started, kNoRow without
  std::vector<bool> waits;    // by row of api_calls: its stream was told to wait for an event since
                              // its last launch there
  std::vector<bool> one_off;  // by row of api_calls: it loaded a module, created a context,
                              // captured a graph, launched a kernel for the first time, ...
  std::vector<Intervals> first_uses;  // by row of threads: stretches in which it compiled or loaded
                                      // what it launched next, for the first time
};

/// Reads the calls of every thread in order. Which stream a wait call is about stands in the syncs
/// table where the source recorded it; a wait of an unknown stream counts for the thread's next
/// launch on any stream.
LaunchFacts collect_launch_facts(const Context& context);

/// A stretch without device work and the activities around it.
struct IdleGap {
  Interval span;
  std::uint32_t before, next;  // rows of activities; kNoRow at the ends
  bool awaits_input;           // the next one brings the input of a step
};

class IdleRules {
 public:
  IdleRules(const Context& context, const LaunchFacts& facts);

  IdleGap gap(Interval span, std::uint32_t before, std::uint32_t next) const {
    return {span, before, next, is_input_copy(next)};
  }

  /// The host was late: the cause that a thread gives which is in this state from `from` on, empty
  /// when it has nothing open and the next thread is to be asked.
  [[gnu::always_inline]] std::optional<IdleReason> host_late(std::uint32_t thread, Nanos from,
                                                             const ThreadState& state,
                                                             const IdleGap& gap) const {
    if (state.call != kNoRow || state.roles != 0)
      if (const auto reason = by_call_or_role(state)) return reason;
    const auto once = [&] { return state.call == kNoRow && in_first_use(thread, from); };
    if (state.call == kNoRow && state.op == kNoRow)
      return once() ? std::optional(IdleReason::start_up) : std::nullopt;
    if (gap.next == kNoRow) return IdleReason::host_other;  // nothing follows that could be late
    if (gap.awaits_input) return IdleReason::input;
    return runs_first(state.op) || once() ? IdleReason::start_up : IdleReason::launch_bound;
  }

  /// The device had the work from `from` on and did not start it before the gap's end. The launch
  /// call had returned at `returned`.
  IdleReason device_late(const IdleGap& gap, Nanos from, Nanos returned) const;

  /// The stream of an activity had been told to wait for an event before it was launched.
  bool told_to_wait(std::uint32_t activity) const;
  Nanos hardware_needs() const { return hardware_needs_; }

 private:
  std::optional<IdleReason> by_call_or_role(const ThreadState& state) const;
  bool runs_first(std::uint32_t op) const { return op < one_off_ops_.size() && one_off_ops_[op]; }
  bool in_first_use(std::uint32_t thread, Nanos instant) const {
    return instant < first_uses_end_ && member_at(facts_.first_uses[thread], instant) != nullptr;
  }
  bool is_input_copy(std::uint32_t activity) const;
  bool made_for_itself(std::uint32_t activity) const;
  std::optional<IdleReason> in_copy_call(std::uint32_t call) const;

  const Context& context_;
  const Capture& capture_;
  const LaunchFacts& facts_;
  std::vector<bool> one_off_ops_;     // by row of host_ops: it did one-off work when it first ran;
                                      // empty where none did
  Nanos hardware_needs_;              // longest gap between work that was queued
  Nanos first_uses_end_ = INT64_MIN;  // of all threads: mostly they come early
};

}  // namespace gf
