#include "report/events/timeline_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
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
#include "analyze/window.h"
#include "model/kernel_name.h"
#include "report/summary.h"

namespace gf {

namespace {

class TimelineTexts {
 public:
  TimelineTexts(const Context& context, TimelineData& data);

  std::int64_t text(std::string_view text);
  std::int64_t text(Text id);
  std::int64_t text(IdleReason reason);
  /// The thing that an activity stands for: kernels of one name and shape of launch are one thing.
  std::int64_t thing(std::uint32_t activity);
  std::int64_t site(std::uint32_t activity);

 private:
  const Context& context_;
  const Capture& capture_;
  TimelineData& data_;
  std::unordered_map<std::string, std::int64_t> known_;
  static constexpr std::int64_t kUnknown = -1;
  std::vector<std::int64_t> known_ids_;  // by text of the capture
  std::array<std::int64_t, EnumNames<IdleReason>::names.size()> known_reasons_;
  using Shape = std::tuple<std::uint32_t, std::int32_t, std::int32_t, std::int32_t, std::int32_t,
                           std::int32_t, std::int32_t, std::int64_t, std::int64_t>;
  struct HashOfShape {
    std::size_t operator()(const Shape& shape) const {
      return std::apply(
          [](auto... part) {
            std::size_t hash = 0;
            ((hash = (hash ^ static_cast<std::size_t>(part)) * 0x9e3779b97f4a7c15u), ...);
            return hash ^ hash >> 32;
          },
          shape);
    }
  };
  std::unordered_map<Shape, std::int64_t, HashOfShape> things_;
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  struct LastOfOperation {  // name of an operation, module and layer
    Place place{kNoRow, kNoRow, kNoRow};
    std::int64_t site = 0;
  };
  std::vector<LastOfOperation> last_of_operation_;  // by name
  std::map<Place, std::int64_t> sites_;
  std::shared_ptr<const LayerGroups> layers_;
  std::vector<std::uint32_t> group_of_;  // of layers_, by activity; kNoRow: of none
};

TimelineTexts::TimelineTexts(const Context& context, TimelineData& data)
    : context_(context),
      capture_(context.capture),
      data_(data),
      known_ids_(capture_.strings.size(), kUnknown),
      last_of_operation_(capture_.strings.size()),
      group_of_(capture_.activities.size(), kNoRow) {
  known_reasons_.fill(kUnknown);
  const auto& instances = context.kernels;
  layers_ = layer_groups_of(context);
  for (std::size_t i = 0; i < instances.size(); ++i)
    group_of_[instances[i].activity] = layers_->group[i];
}

std::int64_t TimelineTexts::text(std::string_view text) {
  if (text.empty()) return 0;
  const auto [at, added] =
      known_.try_emplace(std::string(text), static_cast<std::int64_t>(data_.texts.size()));
  if (added) data_.texts.emplace_back(text);
  return at->second;
}

std::int64_t TimelineTexts::text(Text id) {
  std::int64_t& known = known_ids_[static_cast<std::uint32_t>(id)];
  if (known == kUnknown) known = text(capture_.text(id));
  return known;
}

std::int64_t TimelineTexts::text(IdleReason reason) {
  std::int64_t& known = known_reasons_[static_cast<std::size_t>(reason)];
  if (known == kUnknown) known = text(name_of(reason));
  return known;
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
  const std::uint32_t layer = group_of_[row];
  LastOfOperation& last = last_of_operation_[op];
  const Place place{op, module, layer};
  if (last.place == place) return last.site;
  const auto [at, added] = sites_.try_emplace(place, static_cast<std::int64_t>(sites_.size()));
  last = {place, at->second};
  if (!added) return at->second;
  TimelineSite site;
  site.op = std::string(capture_.text(static_cast<Text>(op)));
  site.module = from.modules[module];
  if (row < from.layer.size()) site.type = name_of(from.layer[row]);
  if (layer != kNoRow) {
    const LayerRow& of = layers_->rows[layer];
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
  const auto queues = queues_of(context);
  for (const auto& queue : *queues) {
    const auto steps = depth_curve(queue.items, window);
    if (std::all_of(steps.begin(), steps.end(), [](const DepthStep& s) { return s.depth == 0; }))
      continue;
    lanes.push_back(lane_of(queue, steps, window));
  }
  return lanes;
}

/// A lane while it is filled, in order of start.
struct LaneDraft {
  TimelineLane lane;
  bool flat = false;  // streams are what each runs one after the other, idle time too; else nests
  EventSums sums;
  std::vector<Nanos> open;  // ends of the events around the last one

  /// The number of events that are open around one; it is open from here on.
  std::uint32_t depth(Interval span) {
    while (!open.empty() && open.back() <= span.start) open.pop_back();
    open.push_back(span.end);
    return static_cast<std::uint32_t>(open.size() - 1);
  }
};

class Builder {
 public:
  Builder(const Context& context, std::size_t budget);
  TimelineData build(std::size_t most_merged);

 private:
  /// Puts a span of the window into a lane, one by one or into the sum of its cell.
  bool put(LaneDraft& draft, Interval span, std::int64_t name, std::int64_t site, bool hold);
  bool put(LaneDraft& draft, Interval span, std::int64_t name) {
    return put(draft, span, name, 0, detail_.holds(span));
  }
  void add(LaneDraft&& draft);
  TimelineLane merged_lane(const TimelineLane& of, std::vector<MergedEvents>& items) const;
  void finish(std::size_t most_merged);
  void add_steps();
  void add_idle(const DeviceTimeline& line, const std::string& group);
  void add_bands(const DeviceTimeline& line, const std::string& group);
  void add_streams(const DeviceTimeline& line, const std::string& group);
  void put_level(TimelineLane::Column& column, std::uint32_t row, KernelLevel level) const;
  void put_activity(LaneDraft& draft, std::uint32_t row, Interval span);
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
  TimelineDetail detail_;
  std::vector<LaneDraft> drafts_;
  TimelineData data_;
  TimelineTexts texts_;
  std::vector<std::uint32_t> call_number_;  // by row of api_calls, 0: not shown
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
      detail_(timeline_detail(context, window_, budget)),
      texts_(context, data_) {
  data_.start_ns = window_.start;
  data_.duration_ns = window_.length();
  data_.origin_ns = extent(capture_, context.chosen).start;
}

bool Builder::put(LaneDraft& draft, Interval span, std::int64_t name, std::int64_t site,
                  bool hold) {
  const std::uint32_t row = detail_.cells.empty() || draft.flat ? 0 : draft.depth(span);
  if (!hold) {
    draft.sums.add({detail_.cell(span.start), row, name, site, 1, span.length()});
    return false;
  }
  draft.lane.start.push_back(span.start - window_.start);
  draft.lane.duration.push_back(span.length());
  draft.lane.name.push_back(name);
  return true;
}

void Builder::add(LaneDraft&& draft) {
  if (draft.lane.start.size() == 0 && draft.sums.joined().empty()) return;
  drafts_.push_back(std::move(draft));
}

void Builder::add_steps() {
  LaneDraft steps{.lane = {.kind = "steps", .title = "Steps"}};
  Interval span;
  for (const auto& step : context_.window.all_steps)
    if (clipped(window_, step.start_ns, step.duration_ns, span))
      put(steps, span, texts_.text(step_label(step)), 0, true);
  add(std::move(steps));
}

std::string Builder::device_group(const DeviceTimeline& line) const {
  return "GPU " + std::to_string(capture_.devices.id[line.device]);
}

void Builder::add_idle(const DeviceTimeline& line, const std::string& group) {
  LaneDraft draft{.lane = {.kind = "idle",
                           .title = "idle, by cause",
                           .group = group,
                           .device = capture_.devices.id[line.device]},
                  .flat = true};
  for (const auto& piece : line.idle_pieces) {
    if (!put(draft, piece.span(), texts_.text(piece.reason))) continue;
    Text operation = piece.op != kNoRow ? capture_.host_ops.name[piece.op] : Text::none;
    draft.lane.shapes.push_back(texts_.text(operation));
  }
  add(std::move(draft));
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
  LaneDraft draft{.lane = {.kind = "band",
                           .title = "annotations",
                           .group = group,
                           .device = capture_.devices.id[line.device]}};
  Interval span;
  for (const auto row : rows)
    if (clipped(window_, bands.start_ns[row], bands.duration_ns[row], span))
      put(draft, span, texts_.text(bands.name[row]));
  add(std::move(draft));
}

/// Thousandths + 1, or 0; nothing where no kernel has the level.
void Builder::put_level(TimelineLane::Column& column, std::uint32_t row, KernelLevel level) const {
  if (!levels_.has(level)) return;
  const double ratio = levels_.of(row, level);
  column.push_back(std::isnan(ratio) ? 0 : std::lround(ratio * 1000) + 1);
}

void Builder::put_activity(LaneDraft& draft, std::uint32_t row, Interval span) {
  const std::int64_t site = texts_.site(row);
  if (!put(draft, span, texts_.thing(row), site, detail_.holds(span))) return;
  const auto& activities = capture_.activities;
  const auto& launch = context_.launches;
  auto& lane = draft.lane;
  lane.site.push_back(site);
  std::int64_t call = row < launch.size() && launch[row] != kNoRow ? call_number_[launch[row]] : 0;
  lane.call.push_back(call);
  lane.correlation.push_back(activities.correlation[row]);
  put_level(lane.sm, row, KernelLevel::sm_active);
  put_level(lane.issue, row, KernelLevel::issue_active);
  put_level(lane.tensor, row, KernelLevel::tensor_issue);
  lane.bytes.push_back(std::max<std::int64_t>(activities.bytes[row], 0));
}

void Builder::add_streams(const DeviceTimeline& line, const std::string& group) {
  std::map<std::int64_t, LaneDraft> streams;
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    auto& draft = streams[capture_.activities.stream[line.rows[i]]];
    draft.flat = true;
    put_activity(draft, line.rows[i], line.spans[i]);
  }
  for (auto& [stream, draft] : streams) {
    draft.lane.kind = "stream";
    draft.lane.title = stream < 0 ? "stream not known" : "stream " + std::to_string(stream);
    draft.lane.group = group;
    draft.lane.device = capture_.devices.id[line.device];
    add(std::move(draft));
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

/// Calls are numbered as their lanes will hold them, so that kernels can name theirs. A kernel that
/// is held has its call.
void Builder::number_calls() {
  const auto& calls = capture_.api_calls;
  call_number_.assign(calls.size(), 0);
  for (const auto& line : context_.devices)
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      const std::uint32_t row = line.rows[i];
      const std::uint32_t call = row < context_.launches.size() ? context_.launches[row] : kNoRow;
      if (call != kNoRow && detail_.holds(line.spans[i])) call_number_[call] = 1;
    }
  std::uint32_t number = 0;
  Interval span;
  for (const auto thread : threads_by_launches())
    for (const auto row : context_.host.calls(thread)) {
      const bool shown = clipped(window_, calls.start_ns[row], calls.duration_ns[row], span);
      const bool held = shown && (call_number_[row] != 0 || detail_.holds(span));
      call_number_[row] = held ? ++number : 0;
    }
}

void Builder::add_operations(std::uint32_t thread, const std::string& group) {
  const auto& ops = capture_.host_ops;
  LaneDraft bands{.lane = {.kind = "band", .title = "annotations", .group = group}};
  LaneDraft host{.lane = {.kind = "host", .title = "operations", .group = group}};
  LaneDraft python{.lane = {.kind = "python", .title = "Python frames", .group = group}};
  Interval span;
  for (const auto row : context_.host.ops(thread)) {
    if (!clipped(window_, ops.start_ns[row], ops.duration_ns[row], span)) continue;
    const HostKind kind = ops.kind[row];
    auto& draft = kind == HostKind::python ? python : (kind == HostKind::annotation ? bands : host);
    if (put(draft, span, texts_.text(ops.name[row])) && &draft == &host)
      host.lane.shapes.push_back(texts_.text(ops.shapes[row]));
  }
  add(std::move(bands));
  add(std::move(host));
  add(std::move(python));
}

void Builder::add_thread(std::uint32_t thread) {
  const std::string group = thread_group(thread);
  const auto& calls = capture_.api_calls;
  LaneDraft draft{.lane = {.kind = "api", .title = "GPU calls", .group = group}};
  Interval span;
  for (const auto row : context_.host.calls(thread))
    if (clipped(window_, calls.start_ns[row], calls.duration_ns[row], span) &&
        put(draft, span, texts_.text(calls.name[row]), 0, call_number_[row] != 0))
      draft.lane.correlation.push_back(calls.correlation[row]);
  add(std::move(draft));
  add_operations(thread, group);
}

/// The lane with the sums of what another does not hold, of a cell the largest first.
TimelineLane Builder::merged_lane(const TimelineLane& of, std::vector<MergedEvents>& items) const {
  TimelineLane lane{
      .kind = of.kind, .title = of.title, .group = of.group, .device = of.device, .merged = true};
  std::sort(items.begin(), items.end(), [](const auto& one, const auto& other) {
    return std::tuple(one.cell, one.row, -one.filled, one.name, one.site) <
           std::tuple(other.cell, other.row, -other.filled, other.name, other.site);
  });
  for (const auto& item : items) {
    const Nanos start = detail_.cells[item.cell];
    const bool last = item.cell + 1 == detail_.cells.size();
    lane.start.push_back(start - window_.start);
    lane.duration.push_back((last ? window_.end : detail_.cells[item.cell + 1]) - start);
    lane.name.push_back(item.name);
    if (of.kind == "stream") lane.site.push_back(item.site);
    lane.row.push_back(item.row);
    lane.events.push_back(item.events);
    lane.filled.push_back(item.filled);
  }
  return lane;
}

/// From drafts to lanes, with at most `most_merged` sums.
void Builder::finish(std::size_t most_merged) {
  std::vector<EventSums*> sums;
  for (auto& draft : drafts_) sums.push_back(&draft.sums);
  join_cells(detail_, sums, most_merged);
  for (auto& draft : drafts_) {
    auto& items = draft.sums.joined();
    TimelineLane merged = merged_lane(draft.lane, items);
    const bool events =
        draft.lane.kind != "steps" && draft.lane.kind != "idle" && draft.lane.kind != "queue";
    if (events) data_.shown += static_cast<std::int64_t>(draft.lane.start.size());
    for (const auto& item : items)
      if (events) data_.total += item.events;
    data_.lanes.push_back(std::move(draft.lane));
    if (!items.empty()) data_.lanes.push_back(std::move(merged));
  }
  data_.total += data_.shown;
  for (const auto& span : detail_.whole)
    data_.whole.push_back({span.start - window_.start, span.end - window_.start});
}

TimelineData Builder::build(std::size_t most_merged) {
  number_calls();
  add_steps();
  auto queues = queue_lanes(context_, window_);
  for (auto& lane : queues)
    if (lane.group.empty()) add({.lane = std::exchange(lane, {})});
  for (const auto& line : context_.devices) {
    const std::string group = device_group(line);
    add_idle(line, group);
    for (auto& lane : queues)
      if (!lane.group.empty() && lane.group == group) add({.lane = std::exchange(lane, {})});
    add_bands(line, group);
    add_streams(line, group);
  }
  for (auto& lane : queues)  // of a device that did nothing in the window
    if (lane.start.size() > 0) add({.lane = std::exchange(lane, {})});
  for (const auto thread : threads_by_launches()) add_thread(thread);
  finish(most_merged);
  return std::move(data_);
}

}  // namespace

TimelineData timeline_data(const Context& context, std::size_t budget) {
  return Builder(context, budget).build(budget / 4);
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
