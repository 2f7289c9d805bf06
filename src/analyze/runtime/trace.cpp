#include "analyze/runtime/trace.h"

#include <algorithm>
#include <map>
#include <optional>

namespace gf {

namespace {

/// A host event of a thread, operations and calls alike.
struct Event {
  Nanos start, end;
  std::uint32_t row;
  bool call;
};

/// Both lists of a thread in one order: by start, an enclosing event before what it encloses.
std::vector<Event> events_of(const Context& context, std::uint32_t thread) {
  const auto& ops = context.capture.host_ops;
  const auto& calls = context.capture.api_calls;
  std::vector<Event> all;
  all.reserve(context.host.ops(thread).size() + context.host.calls(thread).size());
  for (const auto row : context.host.ops(thread)) all.push_back({ops.start_ns[row], ops.start_ns[row] + ops.duration_ns[row], row, false});
  for (const auto row : context.host.calls(thread)) all.push_back({calls.start_ns[row], calls.start_ns[row] + calls.duration_ns[row], row, true});
  std::stable_sort(all.begin(), all.end(), [](const Event& a, const Event& b) { return a.start != b.start ? a.start < b.start : a.end > b.end; });
  return all;
}

bool starts_device_work(ApiKind kind) { return kind == ApiKind::launch || kind == ApiKind::graph_launch || kind == ApiKind::memcpy || kind == ApiKind::memset; }

/// The phase of a call; `other` for those that are part of whatever made them.
RuntimePhase phase_of_call(ApiKind kind) {
  switch (kind) {
    case ApiKind::launch:
    case ApiKind::graph_launch:
    case ApiKind::memset: return RuntimePhase::launch;
    case ApiKind::memcpy: return RuntimePhase::memcpy;
    case ApiKind::sync: return RuntimePhase::wait;
    case ApiKind::alloc:
    case ApiKind::other: break;
  }
  return RuntimePhase::other;
}

class ThreadTracer {
 public:
  ThreadTracer(const Context& context, RuleLookup& rules, RuntimeTrace& out, std::uint32_t thread)
      : capture_(context.capture), rules_(rules), out_(out), thread_(thread), events_(events_of(context, thread)) {}

  void run() {
    look_inside();
    for (std::size_t i = 0; i < events_.size(); ++i) {
      close_until(events_[i].start);
      open(i);
    }
    close_until(INT64_MAX);
  }

  std::vector<std::pair<Interval, std::uint32_t>> entered;  // async enqueues: event and its operation
  std::vector<std::pair<Nanos, std::uint32_t>> left;        // async dequeues

 private:
  struct Inside { bool launches = false, nested = false, hands_on = false; };
  struct Open {
    Nanos end;
    RuntimePhase phase;       // of this event or, when no rule knows it, of the one around it
    std::uint32_t operation;  // likewise
    Text event;               // the event that gave the phase
    bool named;               // the operation has the name of an event with a type
    bool enters;              // inside an event that puts an operation into the queue
    std::size_t entry;        // its place in `entered`, npos when it ran inline
  };
  static constexpr std::size_t kNone = SIZE_MAX;

  /// First pass: what happens inside each event.
  void look_inside() {
    inside_.assign(events_.size(), {});
    std::vector<std::size_t> stack;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& e = events_[i];
      while (!stack.empty() && events_[stack.back()].end <= e.start) stack.pop_back();
      const bool launches = e.call && starts_device_work(capture_.api_calls.kind[e.row]);
      const bool op = !e.call && capture_.host_ops.kind[e.row] == HostKind::op;
      const bool passes = op && hands_on(capture_.text(capture_.host_ops.name[e.row]));
      if (launches || passes || op)
        for (const auto around : stack) {
          inside_[around].launches |= launches;
          inside_[around].hands_on |= passes;
          inside_[around].nested |= op;
        }
      if (!e.call && e.end > e.start) stack.push_back(i);
    }
  }

  void segment_until(Nanos now) {
    if (!stack_.empty() && now > at_) {
      const Open& top = stack_.back();
      if (top.phase != RuntimePhase::other) {
        auto& s = out_.segments;
        if (!s.empty() && s.back().thread == thread_ && s.back().span.end == at_ && s.back().phase == top.phase && s.back().operation == top.operation && s.back().event == top.event) s.back().span.end = now;
        else s.push_back({{at_, now}, thread_, top.operation, top.phase, top.event});
        if (top.operation != kNoRow) out_.operations[top.operation].ns[index_of(top.phase)] += now - at_;
      }
    }
    at_ = std::max(at_, now);
  }

  void close_until(Nanos now) {
    while (!stack_.empty() && stack_.back().end <= now) {
      segment_until(stack_.back().end);
      stack_.pop_back();
    }
    if (now != INT64_MAX) segment_until(now);
  }

  std::uint32_t new_operation(std::size_t i, std::string_view type) {
    out_.operations.push_back({events_[i].start, events_[i].row, type, {}, false});
    return static_cast<std::uint32_t>(out_.operations.size() - 1);
  }

  void open(std::size_t i) {
    const Event& e = events_[i];
    Open o = stack_.empty() ? Open{e.end, RuntimePhase::other, kNoRow, Text{}, false, false, kNone} : stack_.back();
    // An event that outlives the one around it is cut at its end: spans nest on a thread.
    o.end = stack_.empty() ? e.end : std::min(e.end, stack_.back().end);
    if (e.call) {
      out_.operation_of_call[e.row] = o.operation;
      if (const auto phase = phase_of_call(capture_.api_calls.kind[e.row]); phase != RuntimePhase::other) {
        o.phase = phase;
        o.event = capture_.api_calls.name[e.row];
      }
      if (o.end > e.start) stack_.push_back(o);
      return;
    }
    const auto r = rules_.of(e.row);
    if (r != RuleLookup::kNoRule) {
      const PhaseRule& rule = rules_.rule(r);
      ++out_.rule_events[r];
      o.phase = applies(rule, inside_[i]) ? rule.instead : rule.phase;
      o.event = capture_.host_ops.name[e.row];
      const bool own = rule.match == Match::typed || rule.match == Match::compiled;
      if (o.operation == kNoRow || own) {
        o.operation = new_operation(i, rule.operation ? operation_type(capture_, e.row, rule) : capture_.text(capture_.host_ops.name[e.row]));
        o.named = rule.operation;
      } else if (rule.operation && !o.named) {
        auto& operation = out_.operations[o.operation];
        operation.row = e.row;
        operation.type = operation_type(capture_, e.row, rule);
        for (auto& around : stack_)
          if (around.operation == o.operation) around.named = true;
        o.named = true;
      }
      queue_side(rule, e, o);
    }
    if (o.end > e.start) stack_.push_back(o);
  }

  static bool applies(const PhaseRule& rule, const Inside& inside) {
    switch (rule.unless) {
      case Unless::never: return false;
      case Unless::hands_on: return inside.hands_on;
      case Unless::launches: return inside.launches;
      case Unless::nested: return inside.launches || inside.nested;
    }
    return false;
  }

  void queue_side(const PhaseRule& rule, const Event& e, Open& o) {
    if (rule.queue == QueueSide::enters) {
      o.entry = entered.size();
      o.enters = true;
      entered.push_back({{e.start, e.end}, o.operation});
    } else if (rule.queue == QueueSide::leaves) {
      if (o.enters) {
        ++out_.inline_operations;
        if (o.entry != kNone) entered[o.entry].second = kNoRow;  // it ran here: it never was in the queue
      } else {
        out_.operations[o.operation].runs_for_another = true;
        left.push_back({e.start, o.operation});
      }
    }
  }

  const Capture& capture_;
  RuleLookup& rules_;
  RuntimeTrace& out_;
  std::uint32_t thread_;
  std::vector<Event> events_;
  std::vector<Inside> inside_;
  std::vector<Open> stack_;
  Nanos at_ = INT64_MIN;
};

/// The dequeue side of an operation joins its enqueue side, which knows its type.
void pair_queue(RuntimeTrace& trace, std::vector<std::pair<Interval, std::uint32_t>>& entered, std::vector<std::pair<Nanos, std::uint32_t>>& left) {
  std::erase_if(entered, [](const auto& e) { return e.second == kNoRow; });
  std::sort(entered.begin(), entered.end(), [](const auto& a, const auto& b) { return a.first.start < b.first.start; });
  std::sort(left.begin(), left.end());
  std::vector<Interval> puts;
  std::vector<Nanos> takes;
  for (const auto& e : entered) puts.push_back(e.first);
  for (const auto& l : left) takes.push_back(l.first);
  if (takes.empty()) return;
  const Nanos end = std::max(takes.back(), puts.empty() ? takes.back() : puts.back().end);
  trace.framework_queue = pair_in_order(puts, takes, end, trace.queued_before);
  for (std::size_t i = 0; i < entered.size(); ++i) {
    const std::size_t k = i + static_cast<std::size_t>(trace.queued_before);
    if (k >= left.size()) break;
    auto& from = trace.operations[left[k].second];
    auto& to = trace.operations[entered[i].second];
    for (std::size_t p = 0; p < kRuntimePhases; ++p) to.ns[p] += from.ns[p];
    to.ns[index_of(RuntimePhase::queued)] += trace.framework_queue[i].leave - trace.framework_queue[i].enter;
    from.ns = {};
    from.type = to.type;
  }
}

/// Device time and device queueing of each operation.
void add_device_work(const Context& context, RuntimeTrace& trace) {
  const auto& a = context.capture.activities;
  const auto& calls = context.capture.api_calls;
  std::vector<std::uint32_t> first(calls.size(), kNoRow);  // of each call: the activity that started first
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    const auto call = context.attribution.launch[i];
    if (call == kNoRow) continue;
    if (first[call] == kNoRow || a.start_ns[i] < a.start_ns[first[call]]) first[call] = i;
    const auto op = trace.operation_of_call[call];
    if (op == kNoRow) continue;
    trace.operations[op].ns[index_of(a.kind[i] == ActivityKind::kernel ? RuntimePhase::gpu_kernel : RuntimePhase::memcpy)] += a.duration_ns[i];
  }
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    const auto op = trace.operation_of_call[call];
    if (first[call] == kNoRow || op == kNoRow) continue;
    const Nanos waited = a.start_ns[first[call]] - (calls.start_ns[call] + calls.duration_ns[call]);
    if (waited > 0) trace.operations[op].ns[index_of(RuntimePhase::queued)] += waited;
  }
}

}  // namespace

RuntimeTrace trace_runtime(const Context& context, RuleLookup& rules) {
  RuntimeTrace trace;
  trace.operation_of_call.assign(context.capture.api_calls.size(), kNoRow);
  trace.rule_events.assign(rules.size(), 0);
  std::vector<std::pair<Interval, std::uint32_t>> entered;
  std::vector<std::pair<Nanos, std::uint32_t>> left;
  for (std::uint32_t t = 0; t < context.capture.threads.size(); ++t) {
    ThreadTracer tracer(context, rules, trace, t);
    tracer.run();
    entered.insert(entered.end(), tracer.entered.begin(), tracer.entered.end());
    left.insert(left.end(), tracer.left.begin(), tracer.left.end());
  }
  pair_queue(trace, entered, left);
  add_device_work(context, trace);
  return trace;
}

}  // namespace gf
