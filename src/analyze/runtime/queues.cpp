#include "analyze/runtime/queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyze/thread_sweep.h"

namespace gf {

namespace {

constexpr std::size_t kCurveParts = 256;
constexpr std::size_t kDrySpells = 5;

/// Counts by row of threads.
class Fillers {
 public:
  explicit Fillers(const Context& context) : counts_(context.capture.threads.size(), 0) {}
  void add(std::uint32_t thread) {
    if (thread < counts_.size()) ++counts_[thread];
  }
  std::uint32_t busiest() const {
    const auto most = std::max_element(counts_.begin(), counts_.end());
    if (most == counts_.end() || *most == 0) return kNoRow;
    return static_cast<std::uint32_t>(most - counts_.begin());
  }

 private:
  std::vector<std::int64_t> counts_;
};

Queue framework_queue(const Context& context, const RuntimeTrace& trace) {
  Queue queue{"framework", QueueKind::framework, trace.framework_queue, trace.queued_before,
              kNoRow};
  Fillers fillers(context);
  for (const auto& operation : trace.operations)
    if (!operation.runs_for_another &&
        trace.times_of(operation)[index_of(RuntimePhase::queued)] > 0)
      fillers.add(context.capture.host_ops.thread[operation.row]);
  queue.fills = fillers.busiest();
  return queue;
}

/// Passages that the framework recorded at both ends, joined by id.
Queue recorded_queue(const Context& context, Text name) {
  const auto& handoffs = context.capture.handoffs;
  Queue queue{std::string(context.capture.text(name)), QueueKind::framework, {}, 0, kNoRow};
  std::unordered_map<std::int64_t, Nanos> entered;
  Fillers fillers(context);
  Nanos end = INT64_MIN;
  for (std::size_t i = 0; i < handoffs.size(); ++i) {
    if (handoffs.queue[i] != name) continue;
    end = std::max(end, handoffs.time_ns[i]);
    if (handoffs.leaves[i]) continue;
    entered.emplace(handoffs.id[i], handoffs.time_ns[i]);
    fillers.add(handoffs.thread[i]);
  }
  for (std::size_t i = 0; i < handoffs.size(); ++i) {
    if (handoffs.queue[i] != name || !handoffs.leaves[i]) continue;
    const auto it = entered.find(handoffs.id[i]);
    if (it == entered.end()) {
      ++queue.from_before;
      continue;
    }
    queue.items.push_back({std::min(it->second, handoffs.time_ns[i]), handoffs.time_ns[i]});
    entered.erase(it);
  }
  for (const auto& [id, time] : entered)
    queue.items.push_back({time, end});  // still there when the capture ended
  queue.fills = fillers.busiest();
  return queue;
}

Queue device_queue(const Context& context, std::uint32_t device) {
  const auto& activities = context.capture.activities;
  const auto& calls = context.capture.api_calls;
  Queue queue{fmt::format("device:{}", context.capture.devices.id[device]),
              QueueKind::device,
              {},
              0,
              kNoRow};
  std::vector<Nanos> start(
      calls.size(),
      INT64_MAX);  // of each call: a graph's launch leaves the queue when its first node starts
  for (std::uint32_t i = 0; i < activities.size(); ++i) {
    if (activities.device[i] != device) continue;
    if (const auto call = context.attribution.launch[i]; call != kNoRow)
      start[call] = std::min(start[call], activities.start_ns[i]);
    else
      ++queue.from_before;
  }
  queue.items.reserve(calls.size());
  Fillers fillers(context);
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    if (start[call] == INT64_MAX) continue;
    const Nanos returned = calls.start_ns[call] + calls.duration_ns[call];
    queue.items.push_back({std::min(returned, start[call]), start[call]});
    fillers.add(calls.thread[call]);
  }
  queue.fills = fillers.busiest();
  return queue;
}

/// The longest members, longest first.
Intervals longest(const Intervals& set, std::size_t count) {
  Intervals out(std::min(set.size(), count));
  std::partial_sort_copy(set.begin(), set.end(), out.begin(), out.end(),
                         [](const Interval& left, const Interval& right) {
                           if (left.length() != right.length())
                             return left.length() > right.length();
                           return left.start < right.start;
                         });
  return out;
}

/// What a thread was in for most of each span, in words a person recognises: the Python line where
/// the capture has stacks, else the operation or annotation. Empty where it was in nothing.
std::vector<std::string> host_lines(const Context& context, std::uint32_t thread,
                                    const Intervals& spans) {
  std::vector<std::size_t> order(spans.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](auto left, auto right) { return spans[left].start < spans[right].start; });
  std::vector<std::string> lines(spans.size());
  ThreadSweep sweep(context.capture, context.host, context.roles, thread);
  for (const auto item : order) {
    std::map<std::string_view, Nanos> time;
    sweep.each_state(
        spans[item].start, spans[item].end, [&](Nanos from, Nanos to, const ThreadState& state) {
          const auto row = state.python != kNoRow ? state.python : state.span;
          if (row != kNoRow)
            time[context.capture.text(context.capture.host_ops.name[row])] += to - from;
        });
    const auto most = std::max_element(
        time.begin(), time.end(),
        [](const auto& left, const auto& right) { return left.second < right.second; });
    if (most != time.end()) lines[item] = most->first;
  }
  return lines;
}

}  // namespace

std::vector<Queue> find_queues(const Context& context, const RuntimeTrace& trace) {
  std::vector<Queue> queues;
  if (!trace.framework_queue.empty()) queues.push_back(framework_queue(context, trace));
  std::vector<Text> names;
  for (std::size_t i = 0; i < context.capture.handoffs.size(); ++i)
    if (const Text name = context.capture.handoffs.queue[i];
        std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  for (const Text name : names) queues.push_back(recorded_queue(context, name));
  for (const auto& line : context.devices) queues.push_back(device_queue(context, line.device));
  std::erase_if(queues, [](const Queue& queue) { return queue.items.empty(); });
  return queues;
}

QueueInfo describe_queue(const Context& context, const PhaseTimeline& phases, const Queue& queue) {
  QueueInfo info;
  info.id = queue.id;
  info.kind = queue.kind;
  info.from_before = queue.from_before;
  const Interval window = phases.window;
  std::vector<double> waits;
  waits.reserve(queue.items.size());
  for (const auto& item : queue.items)
    if (item.enter >= window.start && item.enter < window.end)
      waits.push_back(static_cast<double>(item.leave - item.enter));
  info.items = static_cast<std::int64_t>(waits.size());
  info.wait = distribution(std::move(waits));
  const auto curve = depth_curve(queue.items, window);
  const auto sum = summarise(curve, window);
  info.max_depth = sum.max;
  info.empty_ns = sum.empty_ns;
  if (window.length() > 0) {
    info.mean_depth = static_cast<double>(sum.integral) / static_cast<double>(window.length());
    info.empty = static_cast<double>(sum.empty_ns) / static_cast<double>(window.length());
  }
  PhaseSums loaded = sum_phases(phases, {window});
  const PhaseSums empty = sum_phases(phases, sum.empty);
  for (std::size_t mask = 0; mask < loaded.size(); ++mask) loaded[mask] -= empty[mask];
  info.when_empty = phase_times(empty);
  info.when_loaded = phase_times(loaded);
  for (const auto& part : thin(curve, window, kCurveParts))
    info.curve.push_back({part.start_ns, part.duration_ns, part.min, part.max, part.mean});
  const auto dry = longest(sum.empty, kDrySpells);
  const auto lines = host_lines(context, queue.fills, dry);
  for (std::size_t i = 0; i < dry.size(); ++i)
    info.dry.push_back(
        {dry[i].start, dry[i].length(), phase_times(sum_phases(phases, {dry[i]})), lines[i]});
  return info;
}

}  // namespace gf
