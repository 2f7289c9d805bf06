// What one host thread was in, as time goes on: a sweep that only moves forward, so that all
// questions in order of time cost one pass over the thread's events.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "analyze/host_roles.h"
#include "analyze/host_threads.h"

namespace gf {

/// The state of a thread at an instant.
struct ThreadState {
  std::uint32_t op = kNoRow;      // innermost framework operation, row of host_ops
  std::uint32_t named = kNoRow;   // innermost span of any kind that says something: operation,
                                  // annotation, Python function
  std::uint32_t python = kNoRow;  // innermost Python function
  std::uint32_t span = kNoRow;    // innermost span that is none
  std::uint32_t call = kNoRow;    // innermost open call of the runtime, row of api_calls
  std::uint8_t roles = kPlain;    // roles of all open spans together
};

class ThreadSweep {
 public:
  ThreadSweep(const Capture& capture, const HostThreads& host, const NameRoles& roles,
              std::uint32_t thread)
      : capture_(&capture), roles_(&roles), ops_(host.ops(thread)), calls_(host.calls(thread)) {}

  /// The state at an instant, which is never before that of the last question.
  ThreadState at(Nanos now) {
    enter(now);
    return state();
  }

  /// f(start, end, ThreadState) for the stretches of [from, to) with one state, in order. `from`
  /// never goes back below the `to` of the last call.
  template <class F>
  void each_state(Nanos from, Nanos to, F&& apply) {
    while (from < to) {
      enter(from);
      const Nanos until = std::min(to, next_change());
      apply(from, until, state());
      from = until;
    }
  }

 private:
  struct Open {
    Nanos end;
    ThreadState inside;  // the state while this span is the innermost one; `call` is unused
  };
  struct OpenCall {
    Nanos end;
    std::uint32_t row;
  };

  ThreadState state() const {
    ThreadState state = ThreadState{};
    if (!open_.empty()) state = open_.back().inside;
    if (open_calls_.empty()) {
      state.call = kNoRow;
    } else {
      state.call = open_calls_.back().row;
    }
    return state;
  }

  /// Opens everything that has started by `now` and closes what has ended. Spans nest on a thread;
  /// where a damaged one ends after the span around it, that span stays open with it.
  void enter(Nanos now) {
    const auto& ops = capture_->host_ops;
    while (next_op_ < ops_.size() && ops.start_ns[ops_[next_op_]] <= now) {
      const auto row = ops_[next_op_++];
      const Nanos start = ops.start_ns[row], end = start + ops.duration_ns[row];
      while (!open_.empty() && open_.back().end <= start) open_.pop_back();
      if (end <= now) continue;
      Open span{end, open_.empty() ? ThreadState{} : open_.back().inside};
      const std::uint8_t role = roles_->host(ops.name[row]);
      span.inside.roles |= role & (kInput | kCommunication | kWaits | kOneOff | kHostTransport);
      if (ops.kind[row] == HostKind::op && !(role & kAnnotation)) span.inside.op = row;
      if (!(role & kStep)) span.inside.named = row;
      (ops.kind[row] == HostKind::python ? span.inside.python : span.inside.span) = row;
      open_.push_back(span);
    }
    while (!open_.empty() && open_.back().end <= now) open_.pop_back();
    const auto& calls = capture_->api_calls;
    while (next_call_ < calls_.size() && calls.start_ns[calls_[next_call_]] <= now) {
      const auto row = calls_[next_call_++];
      const Nanos start = calls.start_ns[row], end = start + calls.duration_ns[row];
      while (!open_calls_.empty() && open_calls_.back().end <= start) open_calls_.pop_back();
      if (end > now) open_calls_.push_back({end, row});
    }
    while (!open_calls_.empty() && open_calls_.back().end <= now) open_calls_.pop_back();
  }

  Nanos next_change() const {
    Nanos time = INT64_MAX;
    if (!open_.empty()) time = std::min(time, open_.back().end);
    if (!open_calls_.empty()) time = std::min(time, open_calls_.back().end);
    if (next_op_ < ops_.size()) time = std::min(time, capture_->host_ops.start_ns[ops_[next_op_]]);
    if (next_call_ < calls_.size())
      time = std::min(time, capture_->api_calls.start_ns[calls_[next_call_]]);
    return time;
  }

  const Capture* capture_;
  const NameRoles* roles_;
  std::span<const std::uint32_t> ops_, calls_;
  std::size_t next_op_ = 0, next_call_ = 0;
  std::vector<Open> open_;
  std::vector<OpenCall> open_calls_;
};

}  // namespace gf
