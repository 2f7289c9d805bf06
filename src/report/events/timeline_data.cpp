#include "report/events/timeline_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "analyze/runtime/queues.h"
#include "analyze/utilization/kernel_levels.h"
#include "model/kernel_name.h"
#include "report/events/rows.h"

namespace gf {

namespace {

/// An event before thinning.
struct Event {
  Interval span;
  std::uint32_t row = 0;  // row of its table
};
using Events = std::vector<Event>;

class Builder {
 public:
  Builder(const Context& context, std::size_t budget)
      : context_(context),
        capture_(context.capture),
        levels_(context.capture, context.matching),
        left_(budget) {}
  TimelineData build();

 private:
  std::uint32_t text(std::string_view text);
  std::uint32_t name(Text id, bool kernel);
  bool clip(Nanos start, Nanos duration, Interval& span) const;
  void choose(Events& events, std::size_t budget);
  void put(TimelineLane& lane, const Event& event, std::uint32_t row, std::uint32_t name);
  void add_steps();
  void add_device(const DeviceTimeline& line, std::size_t budget);
  void add_queues();
  void add_host();
  void add_thread(std::uint32_t thread, const Events& ops, const Events& calls);
  std::string thread_title(std::uint32_t thread, std::string_view what) const;
  void link_launches();

  const Context& context_;
  const Capture& capture_;
  const KernelLevels levels_;
  std::size_t left_;
  Interval window_;
  TimelineData data_;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::unordered_map<std::uint32_t, std::uint32_t>
      names_;  // text of the capture -> text of the data
  std::unordered_map<std::uint32_t, std::pair<std::int32_t, Nanos>>
      calls_;  // row of api_calls -> lane, start
  std::vector<std::vector<std::uint32_t>>
      activities_;  // by lane: rows of activities, empty for other lanes
};

std::uint32_t Builder::text(std::string_view text) {
  if (text.empty()) return 0;
  const auto [at, added] =
      known_.try_emplace(std::string(text), static_cast<std::uint32_t>(data_.texts.size()));
  if (added) data_.texts.emplace_back(text);
  return at->second;
}

std::uint32_t Builder::name(Text id, bool kernel) {
  const auto [at, added] = names_.try_emplace(static_cast<std::uint32_t>(id), 0);
  if (added)
    at->second =
        text(kernel ? short_kernel_name(capture_.text(id)) : std::string(capture_.text(id)));
  return at->second;
}

bool Builder::clip(Nanos start, Nanos duration, Interval& span) const {
  span = {std::max(start, window_.start), std::min(start + duration, window_.end)};
  return span.end > span.start || (duration == 0 && start >= window_.start && start <= window_.end);
}

/// Keeps the longest `budget` events, in order of start.
void Builder::choose(Events& events, std::size_t budget) {
  data_.total += static_cast<std::int64_t>(events.size());
  if (events.size() > budget) {
    std::nth_element(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(budget),
                     events.end(), [](const Event& left, const Event& right) {
                       if (left.span.length() != right.span.length())
                         return left.span.length() > right.span.length();
                       return left.span.start < right.span.start;
                     });
    events.resize(budget);
  }
  std::sort(events.begin(), events.end(), [](const Event& left, const Event& right) {
    return std::tuple(left.span.start, -left.span.end, left.row) <
           std::tuple(right.span.start, -right.span.end, right.row);
  });
  data_.shown += static_cast<std::int64_t>(events.size());
  left_ -= std::min(left_, events.size());
}

void Builder::put(TimelineLane& lane, const Event& event, std::uint32_t row, std::uint32_t name) {
  lane.start.push_back(event.span.start - window_.start);
  lane.duration.push_back(event.span.length());
  lane.row.push_back(row);
  lane.name.push_back(name);
  lane.rows = std::max(lane.rows, row + 1);
}

std::vector<Interval> spans_of(const Events& events) {
  std::vector<Interval> spans;
  for (const auto& event : events) spans.push_back(event.span);
  return spans;
}

void Builder::add_steps() {
  TimelineLane lane{.kind = "steps", .title = "Steps"};
  for (const auto& step : context_.window.all_steps) {
    Event event;
    if (clip(step.start_ns, step.duration_ns, event.span))
      put(lane, event, 0, text("step " + std::to_string(step.index)));
  }
  if (lane.start.empty()) return;
  activities_.emplace_back();
  data_.lanes.push_back(std::move(lane));
}

void Builder::add_device(const DeviceTimeline& line, std::size_t budget) {
  const auto device = capture_.devices.id[line.device];
  std::string label = "";
  if (context_.devices.size() > 1) label = "GPU " + std::to_string(device) + " ";
  Events pieces;
  for (std::uint32_t i = 0; i < line.idle_pieces.size(); ++i)
    pieces.push_back({line.idle_pieces[i].span, i});
  choose(pieces, budget / 3);
  if (!pieces.empty()) {
    TimelineLane lane{.kind = "idle", .title = label + "idle, by cause", .device = device};
    for (const auto& piece : pieces) {
      const auto& idle = line.idle_pieces[piece.row];
      put(lane, piece, 0, text(name_of(idle.reason)));
      lane.op.push_back(idle.op == kNoRow ? 0 : name(capture_.host_ops.name[idle.op], false));
    }
    activities_.emplace_back();
    data_.lanes.push_back(std::move(lane));
  }
  Events all;
  for (std::size_t i = 0; i < line.rows.size(); ++i) all.push_back({line.spans[i], line.rows[i]});
  choose(all, budget - budget / 3);
  std::map<std::int64_t, Events> streams;
  for (const auto& event : all) streams[capture_.activities.stream[event.row]].push_back(event);
  for (const auto& [stream, events] : streams) {
    TimelineLane lane{
        .kind = "stream", .title = label + "stream " + std::to_string(stream), .device = device};
    const auto rows = free_rows(spans_of(events));
    auto& own = activities_.emplace_back();
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto activity = events[i].row;
      const auto& at = context_.attribution;
      auto of = [&](const auto& column, auto&& found) {
        return activity < column.size() ? found(column[activity]) : 0u;
      };
      put(lane, events[i], rows[i],
          name(capture_.activities.name[activity],
               capture_.activities.kind[activity] == ActivityKind::kernel));
      lane.op.push_back(of(at.op, [&](auto op) {
        return op == kNoRow ? 0u : name(capture_.host_ops.name[op], false);
      }));
      lane.module.push_back(of(at.module, [&](auto member) { return text(at.modules[member]); }));
      lane.type.push_back(of(at.layer, [&](auto member) { return text(at.layer_types[member]); }));
      const double tensor = levels_.of(activity, KernelLevel::tensor_issue);
      lane.tensor.push_back(
          std::isnan(tensor) ? -1 : static_cast<std::int32_t>(std::lround(tensor * 1000)));
      own.push_back(activity);
    }
    data_.lanes.push_back(std::move(lane));
  }
}

std::string Builder::thread_title(std::uint32_t thread, std::string_view what) const {
  const auto& threads = capture_.threads;
  const auto name = capture_.text(threads.name[thread]);
  return std::string(name.empty() ? "thread " + std::to_string(threads.tid[thread])
                                  : std::string(name)) +
         ", " + std::string(what);
}

constexpr std::uint32_t kDeepest = 48;  // rows of a thread: Python stacks reach beyond any screen

void Builder::add_thread(std::uint32_t thread, const Events& ops, const Events& calls) {
  if (!ops.empty()) {
    TimelineLane lane{.kind = "host", .title = thread_title(thread, "operations")};
    const auto rows = nesting_rows(spans_of(ops));
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (rows[i] < kDeepest)
        put(lane, ops[i], rows[i], name(capture_.host_ops.name[ops[i].row], false));
      else
        --data_.shown;
    }
    activities_.emplace_back();
    data_.lanes.push_back(std::move(lane));
  }
  if (calls.empty()) return;
  TimelineLane lane{.kind = "api", .title = thread_title(thread, "GPU calls")};
  const auto rows = nesting_rows(spans_of(calls));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    put(lane, calls[i], std::min(rows[i], 3u), name(capture_.api_calls.name[calls[i].row], false));
    calls_.emplace(calls[i].row,
                   std::pair(static_cast<std::int32_t>(data_.lanes.size()), lane.start.back()));
  }
  activities_.emplace_back();
  data_.lanes.push_back(std::move(lane));
}

constexpr std::size_t kQueueSteps = 6'000;
constexpr std::uint32_t kQueueRows = 3;

void Builder::add_queues() {
  RuleLookup rules(capture_);
  const RuntimeTrace trace = trace_runtime(context_, rules);
  for (const auto& queue : find_queues(context_, trace)) {
    const auto steps = depth_curve(queue.items, window_);
    if (std::all_of(steps.begin(), steps.end(),
                    [](const DepthStep& step) { return step.depth == 0; }))
      continue;
    const bool device = queue.kind == QueueKind::device;
    TimelineLane lane{
        .kind = "queue",
        .title = (device ? "launch queue of GPU " + queue.id.substr(queue.id.find(':') + 1)
                         : queue.id + " queue") +
                 (device ? ", launches waiting" : ", operations waiting"),
        .rows = kQueueRows};
    const std::size_t together = (steps.size() + kQueueSteps - 1) / kQueueSteps;
    for (std::size_t i = 0; i < steps.size(); i += together) {
      const std::size_t next = std::min(i + together, steps.size());
      const auto [low, high] = std::minmax_element(
          steps.begin() + static_cast<std::ptrdiff_t>(i),
          steps.begin() + static_cast<std::ptrdiff_t>(next),
          [](const auto& left, const auto& right) { return left.depth < right.depth; });
      lane.start.push_back(steps[i].at - window_.start);
      lane.duration.push_back((next < steps.size() ? steps[next].at : window_.end) - steps[i].at);
      lane.low.push_back(low->depth);
      lane.depth.push_back(high->depth);
    }
    activities_.emplace_back();
    data_.lanes.push_back(std::move(lane));
  }
}

void Builder::add_host() {
  Events ops, calls;
  const auto& op_table = capture_.host_ops;
  for (std::uint32_t i = 0; i < op_table.size(); ++i)
    if (Event event{{}, i}; op_table.thread[i] != kNoRow &&
                            clip(op_table.start_ns[i], op_table.duration_ns[i], event.span))
      ops.push_back(event);
  const auto& call_table = capture_.api_calls;
  for (std::uint32_t i = 0; i < call_table.size(); ++i)
    if (Event event{{}, i}; call_table.thread[i] != kNoRow &&
                            clip(call_table.start_ns[i], call_table.duration_ns[i], event.span))
      calls.push_back(event);
  choose(calls, left_ / 2);
  choose(ops, left_);
  std::map<std::uint32_t, std::pair<Events, Events>> threads;
  for (const auto& op : ops) threads[op_table.thread[op.row]].first.push_back(op);
  for (const auto& call : calls) threads[call_table.thread[call.row]].second.push_back(call);
  for (const auto& [thread, events] : threads) add_thread(thread, events.first, events.second);
}

/// Joins each kernel to its launch call, where that is shown.
void Builder::link_launches() {
  const auto& launch = context_.attribution.launch;
  for (std::size_t lane = 0; lane < data_.lanes.size(); ++lane)
    for (const auto activity : activities_[lane]) {
      const auto call = activity < launch.size() ? calls_.find(launch[activity]) : calls_.end();
      data_.lanes[lane].launch.push_back(call == calls_.end() ? -1 : call->second.second);
      data_.lanes[lane].launch_lane.push_back(call == calls_.end() ? -1 : call->second.first);
    }
}

TimelineData Builder::build() {
  // Without a GPU the host is all there is, and its time the window.
  if (context_.devices.empty()) {
    window_ = Interval{context_.window.start_ns, context_.window.end_ns};
  } else {
    window_ = context_.devices.front().window;
  }
  for (const auto& line : context_.devices)
    window_ = {std::min(window_.start, line.window.start), std::max(window_.end, line.window.end)};
  data_.start_ns = window_.start;
  data_.duration_ns = window_.length();
  const std::size_t device_budget =
      left_ * 3 / 4 / std::max<std::size_t>(context_.devices.size(), 1);
  add_steps();
  for (const auto& line : context_.devices) add_device(line, device_budget);
  add_queues();
  add_host();
  link_launches();
  if (data_.shown < data_.total)
    data_.note = "the longest of each device and of the host are shown, to a depth of 48 calls";
  return std::move(data_);
}

}  // namespace

TimelineData timeline_data(const Context& context, std::size_t budget) {
  return Builder(context, budget).build();
}

}  // namespace gf
