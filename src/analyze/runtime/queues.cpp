#include "analyze/runtime/queues.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

#include "analyze/runtime/host_lines.h"

namespace gf {

namespace {

constexpr std::size_t kCurveParts = 256;
constexpr std::size_t kDrySpells = 5;

std::uint32_t busiest(const std::map<std::uint32_t, std::int64_t>& counts) {
  std::uint32_t best = kNoRow;
  std::int64_t most = 0;
  for (const auto& [thread, n] : counts)
    if (n > most) best = thread, most = n;
  return best;
}

Queue framework_queue(const Context& context, const RuntimeTrace& trace) {
  Queue q{"framework", "framework", trace.framework_queue, trace.queued_before, kNoRow};
  std::map<std::uint32_t, std::int64_t> fillers;
  for (const auto& o : trace.operations)
    if (!o.runs_for_another && o.ns[index_of(RuntimePhase::queued)] > 0) ++fillers[context.capture.host_ops.thread[o.row]];
  q.fills = busiest(fillers);
  return q;
}

/// Passages that the framework recorded at both ends, joined by id.
Queue recorded_queue(const Context& context, Text name) {
  const auto& h = context.capture.handoffs;
  Queue q{std::string(context.capture.text(name)), "framework", {}, 0, kNoRow};
  std::unordered_map<std::int64_t, Nanos> entered;
  std::map<std::uint32_t, std::int64_t> fillers;
  Nanos end = INT64_MIN;
  for (std::size_t i = 0; i < h.size(); ++i) {
    if (h.queue[i] != name) continue;
    end = std::max(end, h.time_ns[i]);
    if (h.leaves[i]) continue;
    entered.emplace(h.id[i], h.time_ns[i]);
    ++fillers[h.thread[i]];
  }
  for (std::size_t i = 0; i < h.size(); ++i) {
    if (h.queue[i] != name || !h.leaves[i]) continue;
    const auto it = entered.find(h.id[i]);
    if (it == entered.end()) {
      ++q.from_before;
      continue;
    }
    q.items.push_back({std::min(it->second, h.time_ns[i]), h.time_ns[i]});
    entered.erase(it);
  }
  for (const auto& [id, time] : entered) q.items.push_back({time, end});  // still there when the capture ended
  q.fills = busiest(fillers);
  return q;
}

Queue device_queue(const Context& context, std::uint32_t device) {
  const auto& a = context.capture.activities;
  const auto& calls = context.capture.api_calls;
  Queue q{fmt::format("device:{}", context.capture.devices.id[device]), "device", {}, 0, kNoRow};
  std::vector<std::pair<std::uint32_t, Nanos>> starts;  // call, start
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    if (a.device[i] != device) continue;
    if (context.attribution.launch[i] == kNoRow) ++q.from_before;
    else starts.emplace_back(context.attribution.launch[i], a.start_ns[i]);
  }
  std::sort(starts.begin(), starts.end());
  std::map<std::uint32_t, std::int64_t> fillers;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto call = starts[i].first;
    if (i > 0 && starts[i - 1].first == call) continue;  // a graph's launch leaves the queue when its first node starts
    const Nanos returned = calls.start_ns[call] + calls.duration_ns[call];
    q.items.push_back({std::min(returned, starts[i].second), starts[i].second});
    ++fillers[calls.thread[call]];
  }
  q.fills = busiest(fillers);
  return q;
}

}  // namespace

std::vector<Queue> find_queues(const Context& context, const RuntimeTrace& trace) {
  std::vector<Queue> queues;
  if (!trace.framework_queue.empty()) queues.push_back(framework_queue(context, trace));
  std::vector<Text> names;
  for (std::size_t i = 0; i < context.capture.handoffs.size(); ++i)
    if (const Text name = context.capture.handoffs.queue[i]; std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const Text name : names) queues.push_back(recorded_queue(context, name));
  for (const auto& line : context.devices) queues.push_back(device_queue(context, line.device));
  std::erase_if(queues, [](const Queue& q) { return q.items.empty(); });
  return queues;
}

QueueInfo describe_queue(const Context& context, const PhaseSets& sets, const Queue& queue) {
  QueueInfo info;
  info.id = queue.id;
  info.kind = queue.kind;
  info.from_before = queue.from_before;
  const Interval window = sets.window;
  std::vector<double> waits;
  for (const auto& item : queue.items)
    if (item.enter >= window.start && item.enter < window.end) waits.push_back(static_cast<double>(item.leave - item.enter));
  info.items = static_cast<std::int64_t>(waits.size());
  info.wait = distribution(waits);
  const auto curve = depth_curve(queue.items, window);
  const auto sum = summarise(curve, window);
  info.max_depth = sum.max;
  info.empty_ns = sum.empty_ns;
  if (window.length() > 0) {
    info.mean_depth = static_cast<double>(sum.integral) / static_cast<double>(window.length());
    info.empty = static_cast<double>(sum.empty_ns) / static_cast<double>(window.length());
  }
  info.when_empty = phase_times(sets, sum.empty);
  info.when_loaded = phase_times(sets, subtract({window}, sum.empty));
  for (const auto& p : thin(curve, window, kCurveParts)) info.curve.push_back({p.start_ns, p.duration_ns, p.min, p.max, p.mean});
  auto dry = sum.empty;
  std::sort(dry.begin(), dry.end(), [](const Interval& a, const Interval& b) { return a.length() != b.length() ? a.length() > b.length() : a.start < b.start; });
  if (dry.size() > kDrySpells) dry.resize(kDrySpells);
  const HostLines lines(context, queue.fills);
  for (const auto& span : dry) info.dry.push_back({span.start, span.length(), phase_times(sets, {span}), lines.most_of(span)});
  return info;
}

}  // namespace gf
