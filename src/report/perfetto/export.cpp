#include "report/perfetto/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "analyze/runtime/queues.h"
#include "analyze/utilization/kernel_levels.h"
#include "core/apportion.h"
#include "model/counter_values.h"
#include "model/kernel_name.h"
#include "model/metrics.h"
#include "report/labels.h"
#include "report/perfetto/tracks.h"
#include "report/summary.h"

namespace gf {

namespace {

Nanos earliest(const Capture& capture) {
  Nanos first = 0;
  auto look = [&](const auto& column) {
    for (const auto time : column) first = std::min(first, time);
  };
  look(capture.activities.start_ns);
  look(capture.host_ops.start_ns);
  look(capture.api_calls.start_ns);
  look(capture.counter_samples.start_ns);
  for (const auto& block : capture.sample_blocks) first = std::min(first, block.first_ns);
  return first;
}

}  // namespace

Status write_perfetto(const Context& context, const perfetto::Sink& sink) {
  perfetto::PacketWriter out(sink);
  perfetto::Export target{context, out, -earliest(context.capture)};
  perfetto::write_devices(target);
  perfetto::write_queues(target);
  perfetto::write_samples(target);
  perfetto::write_host(target);
  return out.finish();
}

}  // namespace gf

namespace gf::perfetto {

/// Every change of depth is a value: nothing is thinned here.
void write_queues(Export& target) {
  const auto queues = queues_of(target.context);
  for (const auto& queue : *queues) {
    Interval window{INT64_MAX, INT64_MIN};
    for (const auto& item : queue.items)
      window = {std::min(window.start, item.enter), std::max(window.end, item.leave)};
    if (window.start >= window.end) continue;
    const auto track = target.out.counter(
        fmt::format("{} queue", queue.id),
        queue.kind == QueueKind::device ? "launches" : "operations", 0, target.order++);
    for (const auto& step : depth_curve(queue.items, window))
      target.out.value(track, step.at + target.shift, static_cast<double>(step.depth));
    target.out.value(track, window.end + target.shift, 0);
  }
}

}  // namespace gf::perfetto

namespace gf::perfetto {

namespace {

/// Kernels that run at a time: their number, and the sum of their values in units so small that
/// adding and taking away is exact.
struct Running {
  std::int64_t kernels = 0;
  Int128 sum = 0;
};

/// f(time, Running) at every change, with value_of(activity) for each kernel of a device.
template <class ValueOf, class F>
void each_change(const DeviceTimeline& line, const Capture& capture, ValueOf&& value_of,
                 F&& apply) {
  struct Edge {
    Nanos at;
    std::int64_t change, value;
  };
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < line.rows.size(); ++i)
    if (capture.activities.kind[line.rows[i]] == ActivityKind::kernel &&
        line.spans[i].length() > 0) {
      const std::int64_t value = value_of(line.rows[i]);
      edges.push_back({line.spans[i].start, 1, value});
      edges.push_back({line.spans[i].end, -1, -value});
    }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& left, const Edge& right) { return left.at < right.at; });
  Running running;
  for (std::size_t i = 0; i < edges.size();) {
    const Nanos at = edges[i].at;
    for (; i < edges.size() && edges[i].at == at; ++i) {
      running.kernels += edges[i].change;
      running.sum += edges[i].value;
    }
    apply(at, running);
  }
}

constexpr double kUnits = 1e15;  // of a ratio of 1

}  // namespace

/// Kernels that run at once share the device evenly, as in the ladder. The format has no "no data":
/// a kernel without counters counts as 0 in its level, the track's name says that it is a lower
/// bound, and a track beside it says where.
void write_levels(Export& target, const KernelLevels& levels, const DeviceTimeline& line,
                  std::uint64_t parent) {
  const Capture& capture = target.context.capture;
  int order = 1000;
  bool all_counted = true;
  for (const auto row : line.rows)
    all_counted &= capture.activities.kind[row] != ActivityKind::kernel || levels.counted(row);
  for (std::size_t kernel_level = 0; kernel_level < kKernelLevels; ++kernel_level) {
    const auto level = static_cast<KernelLevel>(kernel_level);
    if (!levels.has(level)) continue;
    bool known = true;
    for (const auto row : line.rows)
      known &= capture.activities.kind[row] != ActivityKind::kernel ||
               !std::isnan(levels.of(row, level));
    const auto track = target.out.counter(
        fmt::format("{}{}", id_of(level), !known ? " (lower bound)" : ""), "%", parent, order++);
    auto units = [&](std::uint32_t row) {
      const double value = levels.of(row, level);
      return std::isnan(value) ? 0 : std::llround(value * kUnits);
    };
    each_change(line, capture, units, [&](Nanos at, const Running& running) {
      double percent = 0;
      if (running.kernels > 0)
        percent =
            100 * static_cast<double>(running.sum) / kUnits / static_cast<double>(running.kernels);
      target.out.value(track, at + target.shift, percent);
    });
  }
  if (order == 1000 || all_counted) return;
  const auto track = target.out.counter("kernels without counters", "", parent, order);
  auto uncounted = [&](std::uint32_t row) { return levels.counted(row) ? 0 : 1; };
  each_change(line, capture, uncounted, [&](Nanos at, const Running& running) {
    target.out.value(track, at + target.shift, static_cast<double>(running.sum));
  });
}

}  // namespace gf::perfetto

namespace gf::perfetto {

namespace {

bool is_os_id(std::int64_t id) { return id > 0 && id <= std::numeric_limits<std::int32_t>::max(); }

/// The activities that each call launched, by row of api_calls.
std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> flows_by_call(
    const Context& context) {
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> flows;
  for (std::uint32_t attribution = 0; attribution < context.launches.size(); ++attribution)
    if (const auto call = context.launches[attribution]; call != kNoRow)
      flows[call].push_back(flow_of(attribution));
  return flows;
}

class HostWriter {
 public:
  explicit HostWriter(Export& target)
      : e_(target), c_(target.context.capture), flows_(flows_by_call(target.context)) {}
  void write(std::uint32_t thread);

 private:
  struct Item {
    std::uint32_t row;
    bool call;
  };
  std::uint64_t make_track(std::uint32_t thread);
  Slice slice_of(const Item& item, Interval span);

  Export& e_;
  const Capture& c_;
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> flows_;
  std::set<std::int64_t> processes_;
  std::vector<Fact> facts_;
};

std::uint64_t HostWriter::make_track(std::uint32_t thread) {
  const auto pid = c_.threads.pid[thread], tid = c_.threads.tid[thread];
  const auto name = c_.text(c_.threads.name[thread]);
  if (!is_os_id(pid) || !is_os_id(tid))
    return e_.out.track(name.empty() ? fmt::format("thread {}", tid) : std::string(name), 0,
                        e_.order++);
  if (processes_.insert(pid).second) {
    const auto process = c_.text(c_.threads.process_name[thread]);
    e_.out.process(pid, process.empty() ? "process" : process);
  }
  return e_.out.thread(pid, tid, name);
}

Slice HostWriter::slice_of(const Item& item, Interval span) {
  facts_.clear();
  auto text = [&](std::string_view name, Text id) {
    if (id != Text::none) facts_.push_back({name, c_.text(id)});
  };
  auto number = [&](std::string_view name, std::int64_t value) {
    if (value >= 0) facts_.push_back({name, value});
  };
  if (item.call) {
    number("correlation", c_.api_calls.correlation[item.row]);
    const auto flows = flows_.find(item.row);
    return {span, c_.text(c_.api_calls.name[item.row]), name_of(c_.api_calls.kind[item.row]),
            facts_, flows == flows_.end() ? std::span<const std::uint64_t>{} : flows->second};
  }
  const auto& ops = c_.host_ops;
  text("shapes", ops.shapes[item.row]);
  text("types", ops.types[item.row]);
  text("module", ops.module[item.row]);
  number("sequence number", ops.sequence[item.row]);
  return {span, c_.text(ops.name[item.row]), name_of(ops.kind[item.row]), facts_};
}

void HostWriter::write(std::uint32_t thread) {
  std::vector<Item> items;
  std::vector<Interval> spans;
  auto add = [&](auto rows, const auto& table, bool call) {
    for (const auto row : rows) {
      items.push_back({row, call});
      spans.push_back(
          {table.start_ns[row] + e_.shift,
           table.start_ns[row] + e_.shift + std::max<Nanos>(table.duration_ns[row], 0)});
    }
  };
  add(e_.context.host.ops(thread), c_.host_ops, false);
  add(e_.context.host.calls(thread), c_.api_calls, true);
  if (items.empty()) return;
  const auto order = drawing_order(spans);
  std::vector<Interval> in_order;
  for (const auto row : order) in_order.push_back(spans[row]);
  const auto places = by_track(nesting_tracks(in_order));
  const std::uint64_t base = make_track(thread);
  for (std::size_t index = 0; index < places.size(); ++index) {
    std::uint64_t track = base;
    if (index > 0)
      track = e_.out.track(fmt::format("overlap {}", index), base, static_cast<int>(index));
    write_nested(e_.out, track, places[index].size(), [&](std::size_t i) {
      const auto item = order[places[index][i]];
      return slice_of(items[item], spans[item]);
    });
  }
}

}  // namespace

void write_host(Export& target) {
  HostWriter writer(target);
  for (std::uint32_t thread = 0; thread < target.context.host.threads(); ++thread)
    writer.write(thread);
}

void write_samples(Export& target) {
  const auto& capture = target.context.capture;
  std::map<std::pair<std::uint32_t, Text>, std::uint64_t> tracks;
  each_counter_value(capture, kAllTime,
                     [&](std::uint32_t device, Text id, Nanos start, Nanos, double value) {
                       auto& track = tracks[{device, id}];
                       if (track == 0) {
                         std::string where = "host";
                         if (device != kNoRow)
                           where = fmt::format("GPU {}", capture.devices.id[device]);
                         const Metric* metric = find_metric(capture.text(id));
                         track = target.out.counter(fmt::format("{} {}", where, capture.text(id)),
                                                    metric ? metric->unit : "", 0, target.order++);
                       }
                       target.out.value(track, start + target.shift, value);
                     });
}

}  // namespace gf::perfetto

namespace gf::perfetto {

namespace {

struct Drawn {
  std::vector<std::uint32_t> rows;  // in drawing order
  std::vector<Interval> spans;
};

/// Rows with their spans in drawing order, moved by the export's shift.
template <class StartOf, class DurationOf>
Drawn drawn(const Export& target, const std::vector<std::uint32_t>& rows, StartOf&& start,
            DurationOf&& duration) {
  std::vector<Interval> spans;
  for (const auto row : rows)
    spans.push_back(
        {start(row) + target.shift, start(row) + target.shift + std::max<Nanos>(duration(row), 0)});
  Drawn drawn;
  for (const auto row : drawing_order(spans)) {
    drawn.rows.push_back(rows[row]);
    drawn.spans.push_back(spans[row]);
  }
  return drawn;
}

class DeviceWriter {
 public:
  explicit DeviceWriter(Export& target)
      : e_(target),
        c_(target.context.capture),
        at_(target.context.attribution),
        launches_(target.context.launches),
        levels_(c_, target.context.matching),
        activities_(c_.devices.size()) {
    for (std::uint32_t row = 0; row < c_.activities.size(); ++row)
      if (c_.activities.device[row] < activities_.size())
        activities_[c_.activities.device[row]].push_back(row);
  }
  void write(const DeviceTimeline& line);

 private:
  void write_idle(const DeviceTimeline& line, std::uint64_t parent);
  void write_stream(std::int64_t stream, const std::vector<std::uint32_t>& rows,
                    std::uint64_t parent, int& order);
  std::vector<Fact> facts_of(std::uint32_t left);
  std::string_view short_name(Text id);
  std::string_view kept(std::string text);

  Export& e_;
  const Capture& c_;
  const Attribution& at_;
  const std::vector<std::uint32_t>& launches_;
  const KernelLevels levels_;
  std::vector<std::vector<std::uint32_t>> activities_;  // by row of devices
  std::map<Text, std::string> short_;
  std::map<std::string, bool, std::less<>> kept_;
};

std::string_view DeviceWriter::short_name(Text id) {
  const auto [at, added] = short_.try_emplace(id);
  if (added) at->second = short_kernel_name(c_.text(id));
  return at->second;
}

std::string_view DeviceWriter::kept(std::string text) {
  return kept_.try_emplace(std::move(text), true).first->first;
}

std::vector<Fact> DeviceWriter::facts_of(std::uint32_t left) {
  const auto& activities = c_.activities;
  std::vector<Fact> facts;
  auto text = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) facts.push_back({name, value});
  };
  auto number = [&](std::string_view name, std::int64_t value) {
    if (value >= 0) facts.push_back({name, value});
  };
  if (left < at_.op.size() && at_.op[left] != kNoRow)
    text("operator", c_.text(c_.host_ops.name[at_.op[left]]));
  if (left < at_.module.size()) text("module", at_.modules[at_.module[left]]);
  if (left < at_.layer.size()) text("layer type", name_of(at_.layer[left]));
  if (activities.kind[left] == ActivityKind::kernel) {
    text("kernel", c_.text(activities.name[left]));
    if (activities.grid_x[left] >= 0)
      text("grid", kept(fmt::format("{} x {} x {}", activities.grid_x[left],
                                    activities.grid_y[left], activities.grid_z[left])));
    if (activities.block_x[left] >= 0)
      text("block", kept(fmt::format("{} x {} x {}", activities.block_x[left],
                                     activities.block_y[left], activities.block_z[left])));
    number("registers a thread", activities.registers[left]);
    number("shared bytes a block", activities.shared_bytes[left]);
  }
  number("bytes", activities.bytes[left]);
  number("correlation", activities.correlation[left]);
  number("graph node", activities.graph_node[left]);
  return facts;
}

void DeviceWriter::write_stream(std::int64_t stream, const std::vector<std::uint32_t>& rows,
                                std::uint64_t parent, int& order) {
  const auto& activities = c_.activities;
  const Drawn all = drawn(
      e_, rows, [&](auto row) { return activities.start_ns[row]; },
      [&](auto row) { return activities.duration_ns[row]; });
  const auto lanes = by_track(free_rows(all.spans));
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const auto& here = lanes[lane];
    std::string title = fmt::format("stream {}", stream);
    if (lane > 0) title += fmt::format(", overlap {}", lane);
    const auto track = e_.out.track(title, parent, order++);
    std::vector<Fact> facts;
    write_nested(e_.out, track, here.size(), [&](std::size_t at) {
      const auto row = all.rows[here[at]];
      facts = facts_of(row);
      const bool launched = row < launches_.size() && launches_[row] != kNoRow;
      return Slice{all.spans[here[at]],
                   activities.kind[row] == ActivityKind::kernel ? short_name(activities.name[row])
                                                                : c_.text(activities.name[row]),
                   name_of(activities.kind[row]),
                   facts,
                   {},
                   launched ? flow_of(row) : 0};
    });
  }
}

void DeviceWriter::write_idle(const DeviceTimeline& line, std::uint64_t parent) {
  if (line.idle_pieces.empty()) return;
  const auto track = e_.out.track("idle, by cause", parent, 0);
  std::vector<Fact> facts;
  write_nested(e_.out, track, line.idle_pieces.size(), [&](std::size_t index) {
    const auto& piece = line.idle_pieces[index];
    const auto label = label_of(piece.reason);
    facts = {{"cause", name_of(piece.reason)}};
    if (piece.op != kNoRow) facts.push_back({"operator", c_.text(c_.host_ops.name[piece.op])});
    if (piece.next != kNoRow)
      facts.push_back({"waits for", short_name(c_.activities.name[piece.next])});
    return Slice{{piece.start + e_.shift, piece.span().end + e_.shift}, label.text, "idle", facts};
  });
}

void DeviceWriter::write(const DeviceTimeline& line) {
  const auto& devices = c_.devices;
  const auto parent = e_.out.track(
      fmt::format("GPU {} {}", devices.id[line.device], c_.text(devices.name[line.device])), 0,
      e_.order++);
  write_idle(line, parent);
  std::map<std::int64_t, std::vector<std::uint32_t>> streams;
  for (const auto activity : activities_[line.device])
    streams[c_.activities.stream[activity]].push_back(activity);
  int order = 1;
  for (const auto& [stream, rows] : streams) write_stream(stream, rows, parent, order);
  write_levels(e_, levels_, line, parent);
}

void write_steps(Export& target) {
  const auto& steps = target.context.window.all_steps;
  if (steps.empty()) return;
  const auto track = target.out.track("steps", 0, target.order++);
  std::string name;
  write_nested(target.out, track, steps.size(), [&](std::size_t index) {
    name = step_label(steps[index]);
    return Slice{{steps[index].start_ns + target.shift,
                  steps[index].start_ns + steps[index].duration_ns + target.shift},
                 name,
                 "step"};
  });
}

}  // namespace

void write_devices(Export& target) {
  write_steps(target);
  DeviceWriter writer(target);
  for (const auto& line : target.context.devices) writer.write(line);
}

}  // namespace gf::perfetto
