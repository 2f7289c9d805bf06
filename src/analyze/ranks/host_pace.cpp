#include <algorithm>
#include <map>
#include <string_view>

#include "analyze/ranks/measure_rank.h"
#include "analyze/thread_sweep.h"
#include "analyze/traits.h"

namespace gf {

namespace {

constexpr Nanos kNotKnown = -1;
/// A call that launches takes some microseconds: one that lasts longer waits for room in the queue.
constexpr Nanos kFullQueue = 100'000;

/// The time from an activity's launch to its begin, if its call is known.
Nanos queued_before(const Context& context, std::uint32_t activity) {
  const auto call = context.launches[activity];
  if (call == kNoRow) return kNotKnown;
  const Capture& capture = context.capture;
  return std::max<Nanos>(capture.activities.start_ns[activity] - capture.api_calls.start_ns[call],
                         0);
}

Nanos least(Nanos known, Nanos other) {
  if (other == kNotKnown) return known;
  return known == kNotKnown ? other : std::min(known, other);
}

/// Calls in which the host waits for the device.
bool waits_for_device(const Capture& capture, std::uint32_t call) {
  const auto& calls = capture.api_calls;
  const ApiKind kind = calls.kind[call];
  if (kind == ApiKind::sync) return true;
  const bool queues = kind == ApiKind::launch || kind == ApiKind::graph_launch ||
                      kind == ApiKind::memcpy || kind == ApiKind::memset;
  return queues && calls.duration_ns[call] >= kFullQueue;
}

/// The time that hosts waited for the device until an instant: so much earlier they could be.
class WaitedBefore {
 public:
  explicit WaitedBefore(const Capture& capture) {
    const auto& calls = capture.api_calls;
    Intervals waiting;
    for (std::uint32_t call = 0; call < calls.size(); ++call)
      if (waits_for_device(capture, call)) waiting.push_back(span_of(calls, call));
    waiting_ = normalised(std::move(waiting));
    Nanos sum = 0;
    for (const auto& span : waiting_) sum_.push_back(sum += span.length());
  }

  Nanos at(Nanos instant) const {
    const auto ended =
        std::partition_point(waiting_.begin(), waiting_.end(),
                             [&](const Interval& span) { return span.end <= instant; });
    if (ended == waiting_.begin()) return 0;
    return sum_[static_cast<std::size_t>(ended - waiting_.begin()) - 1];
  }

 private:
  Intervals waiting_;
  std::vector<Nanos> sum_;  // until the end of each
};

enum class Doing : std::uint8_t { nothing, blocked, input, operators };

/// One step of the host as it is taken apart.
struct HostStep {
  Nanos blocked = 0, input = 0, operators = 0, other = 0;
  std::map<std::string_view, Nanos> input_in, other_in;
};

class HostSteps {
 public:
  HostSteps(const Context& context, const StepMarks& marks)
      : context_(context), capture_(context.capture), main_(sweep_of(marks.thread)) {
    // Another thread does the work that the marked thread waits for, such as a backward pass.
    for (std::uint32_t thread = 0; thread < capture_.threads.size(); ++thread)
      if (thread != marks.thread && capture_.threads.pid[thread] == marks.pid &&
          !context.host.calls(thread).empty() && !context.host.ops(thread).empty())
        others_.push_back(sweep_of(thread));
  }

  HostStep taken_apart(const StepMark& mark) {
    HostStep step;
    main_.each_state(mark.start, mark.end, [&](Nanos from, Nanos to, const ThreadState& state) {
      const Doing doing = doing_of(state);
      if (doing != Doing::nothing) return add(step, doing, state, to - from);
      in_another_thread(step, state, from, to);
    });
    return step;
  }

 private:
  ThreadSweep sweep_of(std::uint32_t thread) const {
    return ThreadSweep(capture_, context_.host, context_.names, thread);
  }

  void in_another_thread(HostStep& step, const ThreadState& waiting, Nanos from, Nanos to) {
    const auto busy = std::find_if(others_.begin(), others_.end(), [&](ThreadSweep& other) {
      return other.events_in(from, to) > 0 || doing_of(other.at(from)) != Doing::nothing;
    });
    if (busy == others_.end()) return add(step, Doing::nothing, waiting, to - from);
    busy->each_state(from, to, [&](Nanos start, Nanos end, const ThreadState& state) {
      const Doing doing = doing_of(state);
      const ThreadState& named = doing == Doing::nothing ? waiting : state;
      add(step, doing, named, end - start);
    });
  }

  Doing doing_of(const ThreadState& state) const {
    if (state.roles & (host_is::waits | host_is::host_transport)) return Doing::blocked;
    if (state.roles & host_is::input) return Doing::input;
    if (state.call != kNoRow) {
      return waits_for_device(capture_, state.call) ? Doing::blocked : Doing::operators;
    }
    return state.op != kNoRow ? Doing::operators : Doing::nothing;
  }

  void add(HostStep& step, Doing doing, const ThreadState& state, Nanos time) const {
    const auto name = state.named == kNoRow ? std::string_view{}
                                            : capture_.text(capture_.host_ops.name[state.named]);
    switch (doing) {
      case Doing::blocked:
        step.blocked += time;
        return;
      case Doing::operators:
        step.operators += time;
        return;
      case Doing::input:
        step.input += time;
        step.input_in[name] += time;
        return;
      case Doing::nothing:
        step.other += time;
        step.other_in[name] += time;
    }
  }

  const Context& context_;
  const Capture& capture_;
  ThreadSweep main_;
  std::vector<ThreadSweep> others_;
};

std::int64_t most_of(const std::map<std::string_view, Nanos>& names, Texts& texts) {
  const auto most = std::max_element(
      names.begin(), names.end(),
      [](const auto& left, const auto& right) { return left.second < right.second; });
  if (most == names.end() || most->first.empty()) return -1;
  return texts.number(most->first);
}

/// By mark: the shortest time that something launched in it lay queued.
std::vector<Nanos> queued_by_mark(const Context& context, const DeviceTimeline& line,
                                  const StepMarks& marks) {
  std::vector<Nanos> queued(marks.marks.size(), kNotKnown);
  for (const auto row : line.rows) {
    const auto call = context.launches[row];
    if (call == kNoRow) continue;
    const Nanos at = context.capture.api_calls.start_ns[call];
    const auto after = std::partition_point(marks.marks.begin(), marks.marks.end(),
                                            [&](const StepMark& mark) { return mark.start <= at; });
    if (after == marks.marks.begin() || (after - 1)->end <= at) continue;
    auto& known = queued[static_cast<std::size_t>(after - 1 - marks.marks.begin())];
    known = least(known, queued_before(context, row));
  }
  return queued;
}

}  // namespace

void fill_queued(const Context& context, const DeviceTimeline& line, RankPart& part) {
  auto& table = part.collectives;
  table.ahead_ns.assign(table.start_ns.size(), kNotKnown);
  const WaitedBefore waited(context.capture);
  std::size_t place = 0;
  Nanos ended = INT64_MIN;  // when the collectives before the place had ended
  for (const auto row : line.rows) {
    const Nanos start = context.capture.activities.start_ns[row];
    for (; place < table.start_ns.size() && table.start_ns[place] < start; ++place)
      ended = std::max(ended, table.start_ns[place] + table.duration_ns[place]);
    if (place == table.start_ns.size()) break;
    if (start < ended) continue;  // what runs beside a collective did not wait for it
    const auto call = context.launches[row];
    if (call == kNoRow) continue;
    const Nanos earlier =
        queued_before(context, row) + waited.at(context.capture.api_calls.start_ns[call]);
    table.ahead_ns[place] = least(table.ahead_ns[place], earlier);
  }
}

void fill_hosts(const Context& context, const DeviceTimeline& line, const StepMarks& marks,
                RankPart& part, Texts& texts) {
  if (marks.marks.empty() || marks.thread == kNoRow) return;
  HostSteps steps(context, marks);
  const auto queued = queued_by_mark(context, line, marks);
  auto& out = part.hosts;
  for (std::size_t i = 0; i < marks.marks.size(); ++i) {
    const HostStep step = steps.taken_apart(marks.marks[i]);
    out.step.push_back(marks.marks[i].number);
    out.duration_ns.push_back(marks.marks[i].end - marks.marks[i].start);
    out.blocked_ns.push_back(step.blocked);
    out.input_ns.push_back(step.input);
    out.operators_ns.push_back(step.operators);
    out.other_ns.push_back(step.other);
    out.queued_ns.push_back(queued[i]);
    out.input_op.push_back(most_of(step.input_in, texts));
    out.other_op.push_back(most_of(step.other_in, texts));
  }
}

}  // namespace gf
