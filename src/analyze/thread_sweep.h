// State of one host thread over time: all questions in order of time cost one pass over
// the thread's events. A question about an earlier time finds its place by search. Spans nest; one
// that goes on after the span around it stays in the operation and the roles that it began in, but
// is named without that one. All spans count, also between two questions: an answer depends on no
// question before it.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "analyze/host_threads.h"
#include "analyze/traits.h"

namespace gf {

/// Traits that hold of all that the host does inside a span.
inline constexpr NameWord kRolesOfHost = host_is::input | host_is::communication | host_is::waits |
                                         host_is::one_off | host_is::host_transport;
static_assert(kRolesOfHost <= UINT8_MAX);

/// The state of a thread at an instant.
struct ThreadState {
  std::uint32_t op = kNoRow;      // innermost framework operation, row of host_ops
  std::uint32_t named = kNoRow;   // innermost span of any kind that says something: operation,
                                  // annotation, Python function
  std::uint32_t python = kNoRow;  // innermost Python function
  std::uint32_t span = kNoRow;    // innermost span that is none
  std::uint32_t call = kNoRow;    // innermost open call of the runtime, row of api_calls
  std::uint8_t roles = 0;         // kRolesOfHost of all open spans together
};

class ThreadSweep {
 public:
  ThreadSweep(const Capture& capture, const HostThreads& host, const Names& names,
              std::uint32_t thread)
      : ThreadSweep(capture, host, names, thread, host.calls(thread)) {}
  /// With these calls of the thread: who asks for none saves half of the events.
  ThreadSweep(const Capture& capture, const HostThreads& host, const Names& names,
              std::uint32_t thread, std::span<const std::uint32_t> calls)
      : capture_(&capture), names_(&names), ops_{host.ops(thread)}, calls_{calls} {
    ops_.move_to(0, capture.host_ops);
    calls_.move_to(0, capture.api_calls);
  }

  /// The operations of a thread that are open at an instant, outer ones first, and the place of the
  /// first that starts later.
  struct OpenAt {
    std::size_t next = 0;
    std::vector<std::uint32_t> rows;
  };
  /// Of each of some instants, which are in order: one pass over `rows`, those of the thread.
  static std::vector<OpenAt> open_at(const Capture& capture, std::span<const std::uint32_t> rows,
                                     std::span<const Nanos> instants) {
    const auto& ops = capture.host_ops;
    std::vector<OpenAt> found(instants.size());
    std::vector<OpenRow> open;
    std::size_t place = 0;
    for (std::size_t i = 0; i < instants.size(); ++i) {
      for (; place < rows.size() && ops.start_ns[rows[place]] <= instants[i]; ++place) {
        const Nanos start = ops.start_ns[rows[place]], duration = ops.duration_ns[rows[place]];
        while (!open.empty() && open.back().end <= start) open.pop_back();
        if (duration > 0) open.push_back({start + duration, rows[place]});
      }
      found[i].next = place;
      for (const auto& each : open) found[i].rows.push_back(each.row);
    }
    return found;
  }
  /// Begins at an instant before which nothing is asked.
  void begin_at(Nanos instant, const OpenAt& open) {
    for (const auto row : open.rows) open_op(row);
    ops_.move_to(open.next, capture_->host_ops);
    now_ = instant;
  }

  /// The state at an instant.
  ThreadState at(Nanos now) {
    enter(now);
    return state();
  }

  /// f(start, end, ThreadState) for the stretches of [from, to) with one state, in order.
  template <class F>
  void each_state(Nanos from, Nanos to, F&& apply) {
    while (from < to) {
      enter(from);
      const Nanos until = std::min(to, next_change());
      apply(from, until, state());
      from = until;
    }
  }

  /// Events that start in [from, to): what each_state will look at, or a little less.
  std::size_t events_in(Nanos from, Nanos to) const {
    auto in = [&](const Events& events, const auto& table) {
      return first_after(events, table, to - 1) - first_after(events, table, from - 1);
    };
    return in(ops_, capture_->host_ops) + in(calls_, capture_->api_calls);
  }

 private:
  static constexpr Nanos kNever = INT64_MAX, kRounding = kNsPerUs;
  struct Open {
    Nanos end;
    ThreadState inside;  // the state while this span is the innermost one; `call` is unused
  };
  struct OpenRow {
    Nanos end;
    std::uint32_t row;
  };
  struct Events {
    std::span<const std::uint32_t> rows;
    std::size_t next = 0;                 // the first that has not been opened
    Nanos next_start = kNever;            // of that
    std::vector<std::uint32_t> around{};  // by place: that of the event around it; made when needed

    template <class Table>
    void move_to(std::size_t place, const Table& table) {
      next = place;
      next_start = place < rows.size() ? Nanos{table.start_ns[rows[place]]} : kNever;
    }
  };

  ThreadState state() const {
    ThreadState state = open_.back().inside;
    state.call = open_calls_.back().row;
    return state;
  }

  /// Opens everything that has started by `now` and closes what has ended.
  [[gnu::always_inline]] void enter(Nanos now) {
    if (now < now_ || searches_) find(now);
    now_ = std::min(now, kNever - 1);
    const auto& ops = capture_->host_ops;
    const auto& calls = capture_->api_calls;
    for (; ops_.next_start <= now_; ops_.move_to(ops_.next + 1, ops)) {
      close_until(open_, ops_.next_start);
      open_op(ops_.rows[ops_.next]);
    }
    close_until(open_, now_);
    for (; calls_.next_start <= now_; calls_.move_to(calls_.next + 1, calls)) {
      close_until(open_calls_, calls_.next_start);
      open_call(calls_.rows[calls_.next]);
    }
    close_until(open_calls_, now_);
  }

  void open_op(std::uint32_t row) {
    const auto& ops = capture_->host_ops;
    const Nanos duration = ops.duration_ns[row], end = ops.start_ns[row] + duration;
    if (duration <= 0) return;
    const ThreadState around = open_.back().inside;
    while (open_.back().end < end - kRounding) open_.pop_back();
    Open span{end, open_.back().inside};
    span.inside.op = around.op;
    span.inside.roles = around.roles;
    const NameWord is = names_->host(ops.name[row]);
    const HostKind kind = ops.kind[row];
    span.inside.roles |= static_cast<std::uint8_t>(is & kRolesOfHost);
    if (kind == HostKind::op && !(is & host_is::mark)) span.inside.op = row;
    if (!(is & host_is::step)) span.inside.named = row;
    (kind == HostKind::python ? span.inside.python : span.inside.span) = row;
    open_.push_back(span);
  }
  void open_call(std::uint32_t row) {
    const auto& calls = capture_->api_calls;
    const Nanos end = calls.start_ns[row] + calls.duration_ns[row];
    if (end > now_) open_calls_.push_back({end, row});
  }

  template <class Stack>
  static void close_until(Stack& open, Nanos now) {
    while (open.back().end <= now) open.pop_back();
  }

  /// To the beginning; from now on places are found by search, since questions jump.
  void go_back() {
    open_.resize(1);
    open_calls_.resize(1);
    ops_.move_to(0, capture_->host_ops);
    calls_.move_to(0, capture_->api_calls);
    if (searches_) return;
    searches_ = true;
    learn_around(ops_, capture_->host_ops);
    learn_around(calls_, capture_->api_calls);
  }

  template <class Table>
  static void learn_around(Events& events, const Table& table) {
    events.around.resize(events.rows.size());
    std::vector<std::uint32_t> open;  // places
    auto end_at = [&](std::uint32_t place) {
      return table.start_ns[events.rows[place]] + table.duration_ns[events.rows[place]];
    };
    for (std::uint32_t place = 0; place < events.rows.size(); ++place) {
      const auto row = events.rows[place];
      while (!open.empty() && end_at(open.back()) <= table.start_ns[row]) open.pop_back();
      events.around[place] = open.empty() ? kNoRow : open.back();
      if (table.duration_ns[row] > 0) open.push_back(place);
    }
  }

  /// The place of the first event that starts after `now`.
  template <class Table>
  static std::size_t first_after(const Events& events, const Table& table, Nanos now) {
    const auto at =
        std::partition_point(events.rows.begin(), events.rows.end(),
                             [&](std::uint32_t row) { return table.start_ns[row] <= now; });
    return static_cast<std::size_t>(at - events.rows.begin());
  }

  [[gnu::noinline]] void find(Nanos now) {
    if (now < now_) go_back();
    now_ = std::min(now, kNever - 1);
    find(ops_, capture_->host_ops, open_, [&](std::uint32_t row) { open_op(row); });
    find(calls_, capture_->api_calls, open_calls_, [&](std::uint32_t row) { open_call(row); });
  }

  /// Moves on to now_ without a look at what lies between, where that is much.
  template <class Table, class Stack, class OpenRow>
  void find(Events& events, const Table& table, Stack& open, OpenRow&& open_row) {
    constexpr std::size_t kMuch = 64;
    if (events.next + kMuch >= events.rows.size() ||
        table.start_ns[events.rows[events.next + kMuch]] > now_)
      return;
    events.move_to(first_after(events, table, now_), table);
    std::vector<std::uint32_t> inside_out;
    auto ended = [&](std::uint32_t place) {
      const auto row = events.rows[place];
      return table.start_ns[row] + table.duration_ns[row] <= now_;
    };
    auto place = static_cast<std::uint32_t>(events.next - 1);
    while (place != kNoRow && ended(place)) place = events.around[place];
    for (; place != kNoRow; place = events.around[place]) inside_out.push_back(place);
    open.resize(1);
    for (auto at = inside_out.rbegin(); at != inside_out.rend(); ++at) open_row(events.rows[*at]);
  }

  Nanos next_change() const {
    return std::min({ops_.next_start, calls_.next_start, open_.back().end, open_calls_.back().end});
  }

  const Capture* capture_;
  const Names* names_;
  Events ops_, calls_;
  Nanos now_ = INT64_MIN;
  bool searches_ = false;
  // Above a span, and a call, that says nothing and never ends.
  std::vector<Open> open_{{kNever, {}}};
  std::vector<OpenRow> open_calls_{{kNever, kNoRow}};
};

}  // namespace gf
