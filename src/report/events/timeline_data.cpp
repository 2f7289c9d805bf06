#include "report/events/timeline_data.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/context.h"
#include "analyze/kernels/kernels.h"
#include "analyze/layers/layers.h"
#include "analyze/runtime/queues.h"
#include "analyze/utilization/instances.h"
#include "analyze/utilization/kernel_levels.h"
#include "model/kernel_name.h"

namespace gf {

namespace {

class TimelineTexts {
 public:
  TimelineTexts(const Context& context, TimelineData& data);

  std::int64_t text(std::string_view text);
  std::int64_t text(Text id);
  /// What an activity is: kernels of one name and shape of launch are one thing.
  std::int64_t thing(std::uint32_t activity);
  std::int64_t site(std::uint32_t activity);

 private:
  const Context& context_;
  const Capture& capture_;
  TimelineData& data_;
  std::unordered_map<std::string, std::int64_t> known_;
  std::unordered_map<std::uint32_t, std::int64_t> known_ids_;
  using Shape = std::tuple<std::uint32_t, std::int32_t, std::int32_t, std::int32_t, std::int32_t,
                           std::int32_t, std::int32_t, std::int64_t, std::int64_t>;
  std::map<Shape, std::int64_t> things_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::int64_t> sites_;
  LayerGroups layers_;
  std::unordered_map<std::uint32_t, std::uint32_t> group_of_;  // activity -> group of layers_
};

TimelineTexts::TimelineTexts(const Context& context, TimelineData& data)
    : context_(context), capture_(context.capture), data_(data) {
  const auto& instances = context.kernels;
  layers_ = group_layers(context, instances);
  for (std::size_t i = 0; i < instances.size(); ++i)
    group_of_.emplace(instances[i].activity, layers_.group[i]);
}

std::int64_t TimelineTexts::text(std::string_view text) {
  if (text.empty()) return 0;
  const auto [at, added] =
      known_.try_emplace(std::string(text), static_cast<std::int64_t>(data_.texts.size()));
  if (added) data_.texts.emplace_back(text);
  return at->second;
}

std::int64_t TimelineTexts::text(Text id) {
  const auto [at, added] = known_ids_.try_emplace(static_cast<std::uint32_t>(id), 0);
  if (added) at->second = text(capture_.text(id));
  return at->second;
}

std::int64_t TimelineTexts::thing(std::uint32_t row) {
  const auto& a = capture_.activities;
  const auto name = static_cast<std::uint32_t>(a.name[row]);
  const Shape shape{name,           a.grid_x[row],    a.grid_y[row],
                    a.grid_z[row],  a.block_x[row],   a.block_y[row],
                    a.block_z[row], a.registers[row], a.shared_bytes[row]};
  const auto [at, added] = things_.try_emplace(shape, static_cast<std::int64_t>(things_.size()));
  if (!added) return at->second;
  TimelineThing thing;
  thing.full_name = std::string(capture_.text(a.name[row]));
  thing.name = thing.full_name;
  if (a.kind[row] == ActivityKind::kernel) thing.name = short_kernel_name(thing.full_name);
  if (thing.name == thing.full_name) thing.full_name.clear();
  thing.kind = std::string(name_of(a.kind[row]));
  thing.grid = dimensions_text(a.grid_x[row], a.grid_y[row], a.grid_z[row]);
  thing.block = dimensions_text(a.block_x[row], a.block_y[row], a.block_z[row]);
  thing.registers = a.registers[row];
  thing.shared_bytes = a.shared_bytes[row];
  data_.things.push_back(std::move(thing));
  return at->second;
}

std::int64_t TimelineTexts::site(std::uint32_t row) {
  const auto& from = context_.attribution;
  std::uint32_t op = 0;
  if (row < from.op.size() && from.op[row] != kNoRow)
    op = static_cast<std::uint32_t>(capture_.host_ops.name[from.op[row]]);
  const std::uint32_t module = row < from.module.size() ? from.module[row] : 0;
  const auto group = group_of_.find(row);
  const std::uint32_t layer = group == group_of_.end() ? kNoRow : group->second;
  const auto [at, added] =
      sites_.try_emplace({op, module, layer}, static_cast<std::int64_t>(sites_.size()));
  if (!added) return at->second;
  TimelineSite site;
  site.op = std::string(capture_.text(static_cast<Text>(op)));
  site.module = from.modules[module];
  if (row < from.layer.size()) site.type = name_of(from.layer[row]);
  if (layer != kNoRow) {
    const LayerRow& of = layers_.rows[layer];
    site.type = std::string(name_of(of.type));
    site.phase = std::string(name_of(of.phase));
    site.layer = of.name;
  }
  data_.sites.push_back(std::move(site));
  return at->second;
}

constexpr std::size_t kQueueSteps = 60'000;

std::string title_of(const Queue& queue) {
  if (queue.kind == QueueKind::device)
    return "launch queue of GPU " + queue.id.substr(queue.id.find(':') + 1) + ", launches waiting";
  return queue.id + " queue, operations waiting";
}

TimelineLane lane_of(const Queue& queue, const std::vector<DepthStep>& steps, Interval window) {
  TimelineLane lane{.kind = "queue", .title = title_of(queue)};
  if (queue.kind == QueueKind::device)
    lane.group = "GPU " + queue.id.substr(queue.id.find(':') + 1);
  const std::size_t together = (steps.size() + kQueueSteps - 1) / kQueueSteps;
  for (std::size_t i = 0; i < steps.size(); i += together) {
    const std::size_t next = std::min(i + together, steps.size());
    const auto [low, high] =
        std::minmax_element(steps.begin() + static_cast<std::ptrdiff_t>(i),
                            steps.begin() + static_cast<std::ptrdiff_t>(next),
                            [](const auto& a, const auto& b) { return a.depth < b.depth; });
    const Nanos end = next < steps.size() ? steps[next].at : window.end;
    lane.start.push_back(steps[i].at - window.start);
    lane.duration.push_back(end - steps[i].at);
    lane.low.push_back(low->depth);
    lane.depth.push_back(high->depth);
  }
  return lane;
}

/// One lane a queue that ever held something: every change of depth as far as there are not too
/// many, else ranges.
std::vector<TimelineLane> queue_lanes(const Context& context, Interval window) {
  std::vector<TimelineLane> lanes;
  RuleLookup rules(context.capture);
  const RuntimeTrace trace = trace_runtime(context, rules);
  for (const auto& queue : find_queues(context, trace)) {
    const auto steps = depth_curve(queue.items, window);
    if (std::all_of(steps.begin(), steps.end(), [](const DepthStep& s) { return s.depth == 0; }))
      continue;
    lanes.push_back(lane_of(queue, steps, window));
  }
  return lanes;
}

/// Events that start at this moment or later are left out.
struct TimelineCut {
  Nanos events = kNever;  // of streams, calls and framework operations
  Nanos frames = kNever;  // of Python functions
  static constexpr Nanos kNever = INT64_MAX;
};

/// The start from which on events are left out so that `room` of them stay.
Nanos cut_of(std::vector<Nanos>& starts, std::size_t room) {
  if (starts.size() <= room) return TimelineCut::kNever;
  const auto at = starts.begin() + static_cast<std::ptrdiff_t>(room);
  std::nth_element(starts.begin(), at, starts.end());
  return *at;
}

/// The part of an event inside the window. False for one outside; an event without length belongs
/// to the window when it lies in it or at its end.
bool clipped(Interval window, Nanos start, Nanos duration, Interval& span) {
  span = {std::max(start, window.start), std::min(start + duration, window.end)};
  return span.end > span.start || (duration == 0 && start >= window.start && start <= window.end);
}

/// Room for `budget` events of `window`; Python frames get what the others leave.
TimelineCut timeline_cut(const Context& context, Interval window, std::size_t budget) {
  std::vector<Nanos> events;
  std::vector<Nanos> frames;
  for (const auto& line : context.devices)
    for (const auto& span : line.spans) events.push_back(span.start);
  Interval span;
  const auto& bands = context.capture.device_annotations;
  for (std::uint32_t i = 0; i < bands.size(); ++i)
    if (clipped(window, bands.start_ns[i], bands.duration_ns[i], span))
      events.push_back(span.start);
  const auto& calls = context.capture.api_calls;
  for (std::uint32_t i = 0; i < calls.size(); ++i)
    if (calls.thread[i] != kNoRow && clipped(window, calls.start_ns[i], calls.duration_ns[i], span))
      events.push_back(span.start);
  const auto& ops = context.capture.host_ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    if (ops.thread[i] != kNoRow && clipped(window, ops.start_ns[i], ops.duration_ns[i], span))
      (ops.kind[i] == HostKind::python ? frames : events).push_back(span.start);
  TimelineCut cut;
  const std::size_t shown = std::min(budget, events.size());
  cut.events = cut_of(events, budget);
  cut.frames = cut_of(frames, budget - shown);
  return cut;
}

using LaneColumn = TimelineLane::Column;

bool all_are(const LaneColumn& column, std::int64_t value) {
  return std::all_of(column.begin(), column.end(), [&](auto each) { return each == value; });
}

/// A column that says nothing is no column.
void drop_empty(TimelineLane& lane) {
  for (auto column : {&TimelineLane::sm, &TimelineLane::issue, &TimelineLane::tensor,
                      &TimelineLane::bytes, &TimelineLane::shapes, &TimelineLane::call})
    if (all_are(lane.*column, 0)) (lane.*column).clear();
  if (all_are(lane.correlation, -1)) lane.correlation.clear();
}

class Builder {
 public:
  Builder(const Context& context, std::size_t budget);
  TimelineData build();

 private:
  /// Puts a span of the window into a lane, or counts it when it is left out.
  bool put(TimelineLane& lane, Nanos start, Nanos duration, Nanos cut);
  void add(TimelineLane&& lane);
  void add_steps();
  void add_idle(const DeviceTimeline& line, const std::string& group);
  void add_bands(const DeviceTimeline& line, const std::string& group);
  void add_streams(const DeviceTimeline& line, const std::string& group);
  void put_activity(TimelineLane& lane, std::uint32_t row);
  void number_calls();
  void add_thread(std::uint32_t thread);
  void add_operations(std::uint32_t thread, const std::string& group);
  std::vector<std::uint32_t> threads_by_launches() const;
  std::string device_group(const DeviceTimeline& line) const;
  std::string thread_group(std::uint32_t thread) const;

  const Context& context_;
  const Capture& capture_;
  const KernelLevels levels_;
  Interval window_;
  TimelineCut cut_;
  TimelineData data_;
  TimelineTexts texts_;
  std::vector<std::int64_t> call_number_;  // by row of api_calls, 0: not shown
};

Interval window_of(const Context& context) {
  // Without a GPU the host is all there is, and its time the window.
  Interval window{context.window.start_ns, context.window.end_ns};
  if (!context.devices.empty()) window = context.devices.front().window;
  for (const auto& line : context.devices)
    window = {std::min(window.start, line.window.start), std::max(window.end, line.window.end)};
  return window;
}

Builder::Builder(const Context& context, std::size_t budget)
    : context_(context),
      capture_(context.capture),
      levels_(context.capture, context.matching),
      window_(window_of(context)),
      cut_(timeline_cut(context, window_, budget)),
      texts_(context, data_) {
  data_.start_ns = window_.start;
  data_.duration_ns = window_.length();
}

bool Builder::put(TimelineLane& lane, Nanos start, Nanos duration, Nanos cut) {
  Interval span;
  if (!clipped(window_, start, duration, span)) return false;
  ++data_.total;
  if (span.start >= cut) {
    ++lane.left_out;
    lane.until_ns = cut - window_.start;
    return false;
  }
  ++data_.shown;
  lane.start.push_back(span.start - window_.start);
  lane.duration.push_back(span.length());
  return true;
}

void Builder::add(TimelineLane&& lane) {
  if (lane.start.empty() && lane.left_out == 0) return;
  drop_empty(lane);
  data_.lanes.push_back(std::move(lane));
}

void Builder::add_steps() {
  TimelineLane lane{.kind = "steps", .title = "Steps"};
  for (const auto& step : context_.window.all_steps) {
    Interval span;
    if (!clipped(window_, step.start_ns, step.duration_ns, span)) continue;
    lane.start.push_back(span.start - window_.start);
    lane.duration.push_back(span.length());
    lane.name.push_back(texts_.text("step " + std::to_string(step.index)));
  }
  add(std::move(lane));
}

std::string Builder::device_group(const DeviceTimeline& line) const {
  return "GPU " + std::to_string(capture_.devices.id[line.device]);
}

void Builder::add_idle(const DeviceTimeline& line, const std::string& group) {
  TimelineLane lane{.kind = "idle",
                    .title = "idle, by cause",
                    .group = group,
                    .device = capture_.devices.id[line.device]};
  for (const auto& piece : line.idle_pieces) {
    if (piece.span.start >= cut_.events) {  // beside events that are not here
      ++lane.left_out;
      lane.until_ns = cut_.events - window_.start;
      continue;
    }
    lane.start.push_back(piece.span.start - window_.start);
    lane.duration.push_back(piece.span.length());
    lane.name.push_back(texts_.text(name_of(piece.reason)));
    Text operation = piece.op != kNoRow ? capture_.host_ops.name[piece.op] : Text::none;
    lane.shapes.push_back(texts_.text(operation));
  }
  add(std::move(lane));
}

void Builder::add_bands(const DeviceTimeline& line, const std::string& group) {
  const auto& bands = capture_.device_annotations;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < bands.size(); ++i)
    if (bands.device[i] == line.device) rows.push_back(i);
  std::sort(rows.begin(), rows.end(), [&](auto left, auto right) {
    return std::tuple(bands.start_ns[left], -bands.duration_ns[left], left) <
           std::tuple(bands.start_ns[right], -bands.duration_ns[right], right);
  });
  TimelineLane lane{.kind = "band",
                    .title = "annotations",
                    .group = group,
                    .device = capture_.devices.id[line.device]};
  for (const auto row : rows)
    if (put(lane, bands.start_ns[row], bands.duration_ns[row], cut_.events))
      lane.name.push_back(texts_.text(bands.name[row]));
  add(std::move(lane));
}

std::int64_t thousandths(double ratio) {
  return std::isnan(ratio) ? 0 : std::lround(ratio * 1000) + 1;
}

void Builder::put_activity(TimelineLane& lane, std::uint32_t row) {
  const auto& activities = capture_.activities;
  const auto& launch = context_.launches;
  lane.name.push_back(texts_.thing(row));
  lane.site.push_back(texts_.site(row));
  std::int64_t call = row < launch.size() && launch[row] != kNoRow ? call_number_[launch[row]] : 0;
  lane.call.push_back(call);
  lane.correlation.push_back(activities.correlation[row]);
  lane.sm.push_back(thousandths(levels_.of(row, KernelLevel::sm_active)));
  lane.issue.push_back(thousandths(levels_.of(row, KernelLevel::issue_active)));
  lane.tensor.push_back(thousandths(levels_.of(row, KernelLevel::tensor_issue)));
  lane.bytes.push_back(std::max<std::int64_t>(activities.bytes[row], 0));
}

void Builder::add_streams(const DeviceTimeline& line, const std::string& group) {
  std::map<std::int64_t, TimelineLane> streams;
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    const auto stream = capture_.activities.stream[line.rows[i]];
    auto& lane = streams[stream];
    if (put(lane, line.spans[i].start, line.spans[i].length(), cut_.events))
      put_activity(lane, line.rows[i]);
  }
  for (auto& [stream, lane] : streams) {
    lane.kind = "stream";
    lane.title = stream < 0 ? "stream not known" : "stream " + std::to_string(stream);
    lane.group = group;
    lane.device = capture_.devices.id[line.device];
    add(std::move(lane));
  }
}

std::string Builder::thread_group(std::uint32_t thread) const {
  const auto& threads = capture_.threads;
  const auto name = capture_.text(threads.name[thread]);
  return name.empty() ? "thread " + std::to_string(threads.tid[thread]) : std::string(name);
}

/// Those that launch most come first.
std::vector<std::uint32_t> Builder::threads_by_launches() const {
  std::vector<std::uint32_t> order(capture_.threads.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto left, auto right) {
    return context_.host.calls(left).size() > context_.host.calls(right).size();
  });
  return order;
}

/// Calls are numbered as their lanes will hold them, so that kernels can name theirs.
void Builder::number_calls() {
  const auto& calls = capture_.api_calls;
  call_number_.assign(calls.size(), 0);
  std::int64_t number = 0;
  Interval span;
  for (const auto thread : threads_by_launches())
    for (const auto row : context_.host.calls(thread))
      if (clipped(window_, calls.start_ns[row], calls.duration_ns[row], span) &&
          span.start < cut_.events)
        call_number_[row] = ++number;
}

void Builder::add_operations(std::uint32_t thread, const std::string& group) {
  const auto& ops = capture_.host_ops;
  TimelineLane bands{.kind = "band", .title = "annotations", .group = group};
  TimelineLane host{.kind = "host", .title = "operations", .group = group};
  TimelineLane python{.kind = "python", .title = "Python frames", .group = group};
  for (const auto row : context_.host.ops(thread)) {
    const bool frame = ops.kind[row] == HostKind::python;
    TimelineLane& lane = frame ? python : (ops.kind[row] == HostKind::annotation ? bands : host);
    Nanos cut = frame ? cut_.frames : cut_.events;
    if (!put(lane, ops.start_ns[row], ops.duration_ns[row], cut)) continue;
    lane.name.push_back(texts_.text(ops.name[row]));
    if (&lane == &host) lane.shapes.push_back(texts_.text(ops.shapes[row]));
  }
  add(std::move(bands));
  add(std::move(host));
  add(std::move(python));
}

void Builder::add_thread(std::uint32_t thread) {
  const std::string group = thread_group(thread);
  const auto& calls = capture_.api_calls;
  TimelineLane lane{.kind = "api", .title = "GPU calls", .group = group};
  for (const auto row : context_.host.calls(thread)) {
    if (!put(lane, calls.start_ns[row], calls.duration_ns[row], cut_.events)) continue;
    lane.name.push_back(texts_.text(calls.name[row]));
    lane.correlation.push_back(calls.correlation[row]);
  }
  add(std::move(lane));
  add_operations(thread, group);
}

TimelineData Builder::build() {
  number_calls();
  add_steps();
  auto queues = queue_lanes(context_, window_);
  for (auto& lane : queues)
    if (lane.group.empty()) add(std::move(lane));
  for (const auto& line : context_.devices) {
    const std::string group = device_group(line);
    add_idle(line, group);
    for (auto& lane : queues)
      if (!lane.group.empty() && lane.group == group) add(std::move(lane));
    add_bands(line, group);
    add_streams(line, group);
  }
  for (auto& lane : queues)  // of a device that did nothing in the window
    if (!lane.start.empty()) add(std::move(lane));
  for (const auto thread : threads_by_launches()) add_thread(thread);
  return std::move(data_);
}

}  // namespace

TimelineData timeline_data(const Context& context, std::size_t budget) {
  return Builder(context, budget).build();
}

std::vector<std::uint32_t> free_rows(std::span<const Interval> spans) {
  std::vector<std::uint32_t> rows(spans.size());
  std::priority_queue<std::pair<Nanos, std::uint32_t>, std::vector<std::pair<Nanos, std::uint32_t>>,
                      std::greater<>>
      open;  // by end
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    while (!open.empty() && open.top().first <= spans[i].start) {
      free.push(open.top().second);
      open.pop();
    }
    if (free.empty()) free.push(used++);
    rows[i] = free.top();
    free.pop();
    open.emplace(spans[i].end, rows[i]);
  }
  return rows;
}

}  // namespace gf
