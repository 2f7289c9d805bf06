#include <fmt/format.h>

#include <map>

#include "model/kernel_name.h"
#include "report/labels.h"
#include "report/perfetto/parts.h"
#include "report/perfetto/tracks.h"

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
    return Slice{
        {piece.span.start + e_.shift, piece.span.end + e_.shift}, label.text, "idle", facts};
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
    name = fmt::format("step {}", steps[index].index);
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
