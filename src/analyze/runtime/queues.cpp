#include "analyze/runtime/queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/order.h"

namespace gf {

namespace {

constexpr std::size_t kCurveParts = 256;
constexpr std::size_t kDrySpells = 5;

/// Counts by row of threads.
class Fillers {
 public:
  explicit Fillers(const Context& context) : threads_(context.capture.threads.size()) {}
  void add(std::uint32_t thread) {
    if (thread < threads_) ++counts_[thread];
  }
  /// The busiest queue; ties go to the lowest row.
  std::uint32_t busiest() const {
    std::uint32_t row = kNoRow;
    std::int64_t most = 0;
    for (const auto& [thread, count] : counts_) {
      if (count < most || (count == most && thread > row)) continue;
      row = thread;
      most = count;
    }
    return row;
  }

 private:
  std::size_t threads_;
  std::unordered_map<std::uint32_t, std::int64_t> counts_;
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

/// Passages that the framework recorded at both ends, joined by id; `rows` of handoffs, in order.
Queue recorded_queue(const Context& context, Text name, const std::vector<std::size_t>& rows) {
  const auto& handoffs = context.capture.handoffs;
  Queue queue{std::string(context.capture.text(name)), QueueKind::framework, {}, 0, kNoRow};
  std::unordered_map<std::int64_t, Nanos> entered;
  Fillers fillers(context);
  Nanos end = INT64_MIN;
  for (const auto row : rows) {
    end = std::max(end, handoffs.time_ns[row]);
    if (handoffs.leaves[row]) continue;
    entered.emplace(handoffs.id[row], handoffs.time_ns[row]);
    fillers.add(handoffs.thread[row]);
  }
  for (const auto row : rows) {
    if (!handoffs.leaves[row]) continue;
    const auto it = entered.find(handoffs.id[row]);
    if (it == entered.end()) {
      ++queue.from_before;
      continue;
    }
    queue.items.push_back({std::min(it->second, handoffs.time_ns[row]), handoffs.time_ns[row]});
    entered.erase(it);
  }
  for (const auto& [id, time] : entered)
    queue.items.push_back({time, end});  // still there when the capture ended
  queue.fills = fillers.busiest();
  return queue;
}

std::vector<Queue> recorded_queues(const Context& context) {
  const auto& names = context.capture.handoffs.queue;
  std::vector<std::pair<Text, std::vector<std::size_t>>> rows;  // in the order in which names come
  std::unordered_map<std::uint32_t, std::size_t> place;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [at, fresh] = place.try_emplace(static_cast<std::uint32_t>(names[i]), rows.size());
    if (fresh) rows.push_back({names[i], {}});
    rows[at->second].second.push_back(i);
  }
  std::vector<Queue> queues;
  for (const auto& [name, own] : rows) queues.push_back(recorded_queue(context, name, own));
  return queues;
}

/// One queue after the other for every device, at the cost of that device's activities.
class DeviceQueues {
 public:
  explicit DeviceQueues(const Context& context)
      : context_(context), start_(context.capture.api_calls.size(), INT64_MAX) {
    const auto& device = context.capture.activities.device;
    activities_.resize(context.capture.devices.size());
    for (std::uint32_t i = 0; i < device.size(); ++i)
      if (device[i] < activities_.size()) activities_[device[i]].push_back(i);
  }

  Queue of(std::uint32_t device) {
    const auto& starts = context_.capture.activities.start_ns;
    const auto& calls = context_.capture.api_calls;
    Queue q{fmt::format("device:{}", context_.capture.devices.id[device]),
            QueueKind::device,
            {},
            0,
            kNoRow};
    std::vector<std::uint32_t> launched;  // calls
    for (const auto activity : activities_[device]) {
      const auto call = context_.launches[activity];
      if (call == kNoRow) {
        ++q.from_before;
        continue;
      }
      if (start_[call] == INT64_MAX) launched.push_back(call);
      start_[call] = std::min(start_[call], starts[activity]);
    }
    sort_nearly_ordered(launched.begin(), launched.end(), std::less<>());
    q.items.reserve(launched.size());
    Fillers fillers(context_);
    for (const auto call : launched) {
      const Nanos start = std::exchange(start_[call], INT64_MAX);
      if (start == INT64_MAX) continue;
      const Nanos returned = calls.start_ns[call] + calls.duration_ns[call];
      q.items.push_back({std::min(returned, start), start});
      fillers.add(calls.thread[call]);
    }
    q.fills = fillers.busiest();
    return q;
  }

 private:
  const Context& context_;
  std::vector<std::vector<std::uint32_t>> activities_;  // by row of devices
  // By call, for the present device: a graph's launch leaves the queue when its first node starts.
  std::vector<Nanos> start_;
};

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

}  // namespace

std::vector<Queue> find_queues(const Context& context, const RuntimeTrace& trace) {
  std::vector<Queue> queues;
  if (!trace.framework_queue.empty()) queues.push_back(framework_queue(context, trace));
  for (auto& queue : recorded_queues(context)) queues.push_back(std::move(queue));
  DeviceQueues of_devices(context);
  for (const auto& line : context.devices) queues.push_back(of_devices.of(line.device));
  std::erase_if(queues, [](const Queue& queue) { return queue.items.empty(); });
  for (auto& queue : queues) queue.items.shrink_to_fit();  // they stay with the context
  return queues;
}

std::shared_ptr<const std::vector<Queue>> queues_of(const Context& context) {
  if (context.queues) return context.queues;
  RuleLookup rules(context.capture);
  return std::make_shared<const std::vector<Queue>>(
      find_queues(context, trace_runtime(context, rules)));
}

/// The place of a thread for most of a span, in words that a person recognizes: the Python line
/// where the capture has stacks, else the operation or annotation. Empty where it was in nothing.
std::string_view QueueDescription::host_line(ThreadSweep& sweep, Interval span) const {
  constexpr std::size_t kLookedAt = 1'000;
  constexpr Nanos kParts = 128;
  std::map<std::string_view, Nanos> time;
  auto add = [&](Nanos from, Nanos to, const ThreadState& state) {
    const auto row = state.python != kNoRow ? state.python : state.span;
    if (row != kNoRow)
      time[context_.capture.text(context_.capture.host_ops.name[row])] += to - from;
  };
  if (sweep.events_in(span.start, span.end) <= kLookedAt) {
    sweep.each_state(span.start, span.end, add);
  } else {
    const Nanos length = span.length() / kParts;
    for (Nanos from = span.start; from < span.end; from += length + 1)
      add(from, std::min(from + length + 1, span.end), sweep.at(from));
  }
  const auto most = std::max_element(
      time.begin(), time.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == time.end()) return {};
  return most->first;
}

std::vector<std::string> QueueDescription::host_lines(std::uint32_t thread,
                                                      const Intervals& spans) {
  std::vector<std::size_t> order(spans.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return spans[a].start < spans[b].start; });
  auto& sweep = sweeps_.try_emplace(thread, context_.capture, context_.host, context_.names, thread)
                    .first->second;
  std::vector<std::string> lines(spans.size());
  for (const auto i : order) lines[i] = host_line(sweep, spans[i]);
  return lines;
}

QueueInfo QueueDescription::of(const Queue& queue) {
  QueueInfo info;
  info.id = queue.id;
  info.kind = queue.kind;
  info.from_before = queue.from_before;
  const Interval window = phases_.window;
  std::vector<double> waits;
  waits.reserve(queue.items.size());
  for (const auto& item : queue.items)
    if (item.enter >= window.start && item.enter < window.end)
      waits.push_back(static_cast<double>(item.leave - item.enter));
  info.items = static_cast<std::int64_t>(waits.size());
  info.wait = distribution(std::move(waits));
  const auto sum = summarise(queue.items, window, kCurveParts);
  info.max_depth = sum.max;
  info.empty_ns = sum.empty_ns;
  if (window.length() > 0) {
    info.mean_depth = static_cast<double>(sum.integral) / static_cast<double>(window.length());
    info.empty = static_cast<double>(sum.empty_ns) / static_cast<double>(window.length());
  }
  PhaseSums loaded = whole_;
  const PhaseSums empty = sum_phases(phases_, sum.empty);
  for (std::size_t mask = 0; mask < loaded.size(); ++mask) loaded[mask] -= empty[mask];
  info.when_empty = phase_times(empty);
  info.when_loaded = phase_times(loaded);
  for (const auto& part : sum.parts)
    info.curve.push_back({part.start_ns, part.duration_ns, part.min, part.max, part.mean});
  const auto dry = longest(sum.empty, kDrySpells);
  const auto lines = host_lines(queue.fills, dry);
  for (std::size_t i = 0; i < dry.size(); ++i)
    info.dry.push_back(
        {dry[i].start, dry[i].length(), phase_times(sum_phases(phases_, {dry[i]})), lines[i]});
  return info;
}

}  // namespace gf
