#include "analyze/runtime/trace.h"

#include <algorithm>
#include <utility>

namespace gf {

namespace {

bool starts_device_work(ApiKind kind) {
  return kind == ApiKind::launch || kind == ApiKind::graph_launch || kind == ApiKind::memcpy ||
         kind == ApiKind::memset;
}

/// The phase of a call; `other` for those that are part of whatever made them.
RuntimePhase phase_of_call(ApiKind kind) {
  switch (kind) {
    case ApiKind::launch:
    case ApiKind::graph_launch:
    case ApiKind::memset:
      return RuntimePhase::launch;
    case ApiKind::memcpy:
      return RuntimePhase::memcpy;
    case ApiKind::sync:
      return RuntimePhase::wait;
    case ApiKind::alloc:
    case ApiKind::other:
      break;
  }
  return RuntimePhase::other;
}

/// The work that a call started on the devices.
struct DeviceWork {
  Nanos kernels = 0, copies = 0, first_start = INT64_MAX;
};

/// The activities of each call as a list: a call starts one, the launch of a graph thousands.
class StartedWork {
 public:
  explicit StartedWork(const Context& context)
      : activities_(context.capture.activities),
        first_(context.capture.api_calls.size(), kNoRow),
        next_(activities_.size()) {
    for (std::uint32_t i = 0; i < activities_.size(); ++i)
      if (const auto call = context.launches[i]; call != kNoRow)
        next_[i] = std::exchange(first_[call], i);
  }
  /// The work of a row of api_calls.
  DeviceWork of(std::uint32_t call) const {
    DeviceWork done;
    for (auto i = first_[call]; i != kNoRow; i = next_[i]) {
      (activities_.kind[i] == ActivityKind::kernel ? done.kernels : done.copies) +=
          activities_.duration_ns[i];
      done.first_start = std::min(done.first_start, activities_.start_ns[i]);
    }
    return done;
  }

 private:
  const activities_table& activities_;
  std::vector<std::uint32_t> first_, next_;  // by call; by activity, where it has a call
};

using Entered = std::pair<Interval, std::uint32_t>;  // async enqueue: event and its operation
using Left = std::pair<Nanos, std::uint32_t>;        // async dequeue

/// One forward pass over the events of a thread, operations and calls in one order: by start, an
/// enclosing event before what it encloses. What happens inside an event is known when it opens,
/// from the next events of both lists.
class ThreadTracer {
 public:
  ThreadTracer(const Context& context, RuleLookup& rules, const StartedWork& work,
               RuntimeTrace& out, std::uint32_t thread)
      : capture_(context.capture),
        rules_(rules),
        work_(work),
        out_(out),
        phases_(out.threads[thread]),
        ops_(context.host.ops(thread)),
        calls_(context.host.calls(thread)) {}

  void run() {
    const auto& ops = capture_.host_ops;
    const auto& calls = capture_.api_calls;
    while (op_ < ops_.size() && call_ < calls_.size()) {
      const auto op = ops_[op_], call = calls_[call_];
      const Nanos of_op = ops.start_ns[op], of_call = calls.start_ns[call];
      if (of_op != of_call ? of_op < of_call : ops.duration_ns[op] >= calls.duration_ns[call])
        open_op(ops_[op_++]);
      else
        open_call(calls_[call_++]);
    }
    while (op_ < ops_.size()) open_op(ops_[op_++]);
    while (call_ < calls_.size()) open_call(calls_[call_++]);
    close_until(INT64_MAX);
  }

  std::vector<Entered> entered;
  std::vector<Left> left;

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Frame {
    Nanos end;
    RuntimePhase phase;       // of this event or, when no rule knows it, of the one around it
    bool enters;              // inside an event that puts an operation into the queue
    bool founds;              // its operation ends with it
    std::uint32_t operation;  // of this event or the one around it
    Text event;               // the event that gave the phase
    std::size_t entry;        // its place in `entered`, kNone when it ran inline
  };
  struct OpenOperation {
    PhaseTimes times{};
    bool named;  // it has the name of an event with a type
  };

  /// True if two frames charge a stretch to the same thing. Events inside an event that change none
  /// of it, as most do, begin and end no stretch.
  static bool same_stretch(const Frame& one, const Frame& other) {
    return one.phase == other.phase && one.operation == other.operation &&
           (one.event == other.event || one.phase != RuntimePhase::wait);
  }

  void segment_until(Nanos now) {
    if (!stack_.empty() && now > at_) {
      const Frame& top = stack_.back();
      if (top.phase != RuntimePhase::other) {
        const Interval span{at_, now};
        auto& set = phases_[index_of(top.phase)];
        if (set.empty()) set.reserve(ops_.size() + calls_.size());
        if (!set.empty() && set.back().end == at_)
          set.back().end = now;
        else
          set.push_back(span);
        if (top.phase == RuntimePhase::wait) wait(span, top);
        if (top.operation != kNoRow) operations_.back().times[index_of(top.phase)] += now - at_;
        out_.extent = {std::min(out_.extent.start, at_), std::max(out_.extent.end, now)};
      }
    }
    at_ = std::max(at_, now);
  }

  void wait(Interval span, const Frame& top) {
    auto& waits = out_.waits;
    if (waits.size() > first_wait_ && waits.back().span.end == span.start &&
        waits.back().operation == top.operation && waits.back().event == top.event)
      waits.back().span.end = span.end;
    else
      waits.push_back({span, top.operation, top.event});
  }

  void close_until(Nanos now) {
    while (!stack_.empty() && stack_.back().end <= now) {
      const Frame& top = stack_.back();
      if (top.founds || stack_.size() == 1 || !same_stretch(top, stack_[stack_.size() - 2]))
        segment_until(top.end);
      if (top.founds) finish(top.operation);
      stack_.pop_back();
    }
  }

  /// Before a frame is opened at `start`, and before its operation is.
  void end_stretch(const Frame& opened, Nanos start) {
    if (stack_.empty() || opened.founds || !same_stretch(opened, stack_.back()))
      segment_until(start);
  }

  void finish(std::uint32_t operation) {
    out_.set_times(out_.operations[operation], operations_.back().times);
    operations_.pop_back();
  }

  /// An event's frame as the event around it leaves it. One that outlives the event around it is
  /// cut at its end: spans nest on a thread.
  Frame frame(Nanos end) const {
    if (stack_.empty()) return {end, RuntimePhase::other, false, false, kNoRow, Text{}, kNone};
    Frame frame = stack_.back();
    frame.end = std::min(end, frame.end);
    frame.founds = false;
    return frame;
  }

  void open_call(std::uint32_t row) {
    const auto& calls = capture_.api_calls;
    const Nanos start = calls.start_ns[row], returned = start + calls.duration_ns[row];
    close_until(start);
    Frame opened = frame(returned);
    if (opened.operation != kNoRow) {
      const DeviceWork work = work_.of(row);
      auto& times = operations_.back().times;
      times[index_of(RuntimePhase::gpu_kernel)] += work.kernels;
      times[index_of(RuntimePhase::memcpy)] += work.copies;
      if (work.first_start != INT64_MAX)
        times[index_of(RuntimePhase::queued)] += std::max<Nanos>(0, work.first_start - returned);
    }
    if (const auto phase = phase_of_call(calls.kind[row]); phase != RuntimePhase::other) {
      opened.phase = phase;
      opened.event = calls.name[row];
    }
    if (opened.end <= start) return;
    end_stretch(opened, start);
    stack_.push_back(opened);
  }

  void open_op(std::uint32_t row) {
    const auto& ops = capture_.host_ops;
    const Nanos start = ops.start_ns[row];
    close_until(start);
    const Nanos end = start + ops.duration_ns[row];
    Frame opened = frame(end);
    const auto [rules, type] = rules_.of(row);
    if (rules == RuleLookup::kNoRule) {
      if (opened.end <= start) return;
      end_stretch(opened, start);
      stack_.push_back(opened);
      return;
    }
    const PhaseRule& rule = rules_.rule(rules);
    ++out_.rule_events[rules];
    if (applies(rule, end)) {
      opened.phase = rule.instead;
    } else {
      opened.phase = rule.phase;
    }
    opened.event = ops.name[row];
    const bool own = rule.match == Match::typed || rule.match == Match::compiled;
    opened.founds = opened.operation == kNoRow || own;
    end_stretch(opened, start);
    if (opened.founds) {
      opened.operation = static_cast<std::uint32_t>(out_.operations.size());
      out_.operations.push_back({start, row, type, 0, 0, false});
      operations_.push_back({{}, rule.operation});
    } else if (rule.operation && !operations_.back().named) {
      out_.operations[opened.operation].row = row;
      out_.operations[opened.operation].type = type;
      operations_.back().named = true;
    }
    queue_side(rule, {start, end}, opened);
    if (opened.end > start)
      stack_.push_back(opened);
    else if (opened.founds)
      finish(opened.operation);
  }

  /// For an operation that ends at `end`.
  bool applies(const PhaseRule& rule, Nanos end) {
    switch (rule.unless) {
      case Unless::never:
        return false;
      case Unless::hands_on:
        return hands_on_before(end);
      case Unless::launches:
        return launches_before(end);
      case Unless::nested:
        return nests_before(end) || launches_before(end);
    }
    return false;
  }

  /// True if the next call that starts device work, the next operation, the next one that hands
  /// work on begins before `end`.
  bool launches_before(Nanos end) {
    const auto& calls = capture_.api_calls;
    launch_ = std::max(launch_, call_);
    while (launch_ < calls_.size() && !starts_device_work(calls.kind[calls_[launch_]])) ++launch_;
    return launch_ < calls_.size() && calls.start_ns[calls_[launch_]] < end;
  }
  bool nests_before(Nanos end) {
    const auto& ops = capture_.host_ops;
    nested_ = std::max(nested_, op_);
    while (nested_ < ops_.size() && ops.kind[ops_[nested_]] != HostKind::op) ++nested_;
    return nested_ < ops_.size() && ops.start_ns[ops_[nested_]] < end;
  }
  bool hands_on_before(Nanos end) {
    const auto& ops = capture_.host_ops;
    handed_ = std::max(handed_, op_);
    while (handed_ < ops_.size() && !(ops.kind[ops_[handed_]] == HostKind::op &&
                                      hands_on(capture_.text(ops.name[ops_[handed_]]))))
      ++handed_;
    return handed_ < ops_.size() && ops.start_ns[ops_[handed_]] < end;
  }

  void queue_side(const PhaseRule& rule, Interval event, Frame& frame) {
    if (rule.queue == QueueSide::enters) {
      frame.entry = entered.size();
      frame.enters = true;
      entered.push_back({event, frame.operation});
    } else if (rule.queue == QueueSide::leaves) {
      if (frame.enters) {
        ++out_.inline_operations;
        if (frame.entry != kNone)
          entered[frame.entry].second = kNoRow;  // it ran here: it never was in the queue
      } else {
        out_.operations[frame.operation].runs_for_another = true;
        left.push_back({event.start, frame.operation});
      }
    }
  }

  const Capture& capture_;
  RuleLookup& rules_;
  const StartedWork& work_;
  RuntimeTrace& out_;
  ThreadPhases& phases_;
  std::span<const std::uint32_t> ops_, calls_;
  std::size_t op_ = 0, call_ = 0;                     // next of each list
  std::size_t launch_ = 0, nested_ = 0, handed_ = 0;  // looked ahead so far
  std::vector<Frame> stack_;
  std::vector<OpenOperation>
      operations_;  // the innermost last; that of the innermost frame with an operation
  Nanos at_ = INT64_MIN;
  std::size_t first_wait_ = out_.waits.size();
};

/// The dequeue side of an operation joins its enqueue side, which knows its type.
void pair_queue(RuntimeTrace& trace, std::vector<Entered>& entered, std::vector<Left>& left) {
  std::erase_if(entered, [](const auto& entry) { return entry.second == kNoRow; });
  std::sort(entered.begin(), entered.end(), [](const auto& first, const auto& right) {
    return first.first.start < right.first.start;
  });
  std::sort(left.begin(), left.end());
  std::vector<Interval> puts;
  std::vector<Nanos> takes;
  for (const auto& entry : entered) puts.push_back(entry.first);
  for (const auto& leaving : left) takes.push_back(leaving.first);
  if (takes.empty()) return;
  const Nanos end = std::max(takes.back(), puts.empty() ? takes.back() : puts.back().end);
  trace.framework_queue = pair_in_order(puts, takes, end, trace.queued_before);
  for (std::size_t i = 0; i < entered.size(); ++i) {
    const std::size_t enter = i + static_cast<std::size_t>(trace.queued_before);
    if (enter >= left.size()) break;
    auto& from = trace.operations[left[enter].second];
    auto& to = trace.operations[entered[i].second];
    PhaseTimes times = trace.times_of(to);
    const PhaseTimes more = trace.times_of(from);
    for (std::size_t phase = 0; phase < kRuntimePhases; ++phase) times[phase] += more[phase];
    times[index_of(RuntimePhase::queued)] +=
        trace.framework_queue[i].leave - trace.framework_queue[i].enter;
    trace.set_times(to, times);
    from.count = 0;
    from.type = to.type;
  }
}

}  // namespace

PhaseTimes RuntimeTrace::times_of(const Operation& operation) const {
  PhaseTimes times{};
  for (std::size_t i = operation.first; i < operation.first + operation.count; ++i)
    times[index_of(phase_of_time[i])] = time_ns[i];
  return times;
}

void RuntimeTrace::set_times(Operation& operation, const PhaseTimes& times) {
  operation.first = static_cast<std::uint32_t>(time_ns.size());
  for (std::size_t phase = 0; phase < kRuntimePhases; ++phase) {
    if (times[phase] <= 0) continue;
    phase_of_time.push_back(static_cast<RuntimePhase>(phase));
    time_ns.push_back(times[phase]);
  }
  operation.count = static_cast<std::uint8_t>(time_ns.size() - operation.first);
}

RuntimeTrace trace_runtime(const Context& context, RuleLookup& rules) {
  RuntimeTrace trace;
  trace.threads.resize(context.capture.threads.size());
  trace.rule_events.assign(rules.size(), 0);
  // Room that stays untouched costs nothing; growing may copy.
  trace.operations.reserve(context.capture.host_ops.size());
  trace.phase_of_time.reserve(2 * context.capture.host_ops.size());
  trace.time_ns.reserve(2 * context.capture.host_ops.size());
  const StartedWork work(context);
  std::vector<Entered> entered;
  std::vector<Left> left;
  for (std::uint32_t thread = 0; thread < context.capture.threads.size(); ++thread) {
    ThreadTracer tracer(context, rules, work, trace, thread);
    tracer.run();
    entered.insert(entered.end(), tracer.entered.begin(), tracer.entered.end());
    left.insert(left.end(), tracer.left.begin(), tracer.left.end());
  }
  pair_queue(trace, entered, left);
  trace.types = rules.types();
  return trace;
}

}  // namespace gf
