#include "report/events/timeline_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analyze/utilization/kernel_levels.h"
#include "report/events/timeline_cut.h"
#include "report/events/timeline_queues.h"
#include "report/events/timeline_texts.h"

namespace gf {

namespace {

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
    lane.start.push_back(piece.span.start - window_.start);
    lane.duration.push_back(piece.span.length());
    lane.name.push_back(texts_.text(name_of(piece.reason)));
    Text operation = Text::none;
    if (piece.op != kNoRow) operation = capture_.host_ops.name[piece.op];
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
  if (std::isnan(ratio)) return 0;
  return std::lround(ratio * 1000) + 1;
}

void Builder::put_activity(TimelineLane& lane, std::uint32_t row) {
  const auto& activities = capture_.activities;
  const auto& launch = context_.launches;
  lane.name.push_back(texts_.thing(row));
  lane.site.push_back(texts_.site(row));
  std::int64_t call = 0;
  if (row < launch.size() && launch[row] != kNoRow) call = call_number_[launch[row]];
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
    if (stream < 0) {
      lane.title = "stream not known";
    } else {
      lane.title = "stream " + std::to_string(stream);
    }
    lane.group = group;
    lane.device = capture_.devices.id[line.device];
    add(std::move(lane));
  }
}

std::string Builder::thread_group(std::uint32_t thread) const {
  const auto& threads = capture_.threads;
  const auto name = capture_.text(threads.name[thread]);
  if (name.empty()) return "thread " + std::to_string(threads.tid[thread]);
  return std::string(name);
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
    Nanos cut = 0;
    if (frame) {
      cut = cut_.frames;
    } else {
      cut = cut_.events;
    }
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

}  // namespace gf
