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
Drawn drawn(const Export& e, const std::vector<std::uint32_t>& rows, StartOf&& start,
            DurationOf&& duration) {
  std::vector<Interval> spans;
  for (const auto row : rows)
    spans.push_back(
        {start(row) + e.shift, start(row) + e.shift + std::max<Nanos>(duration(row), 0)});
  Drawn d;
  for (const auto i : drawing_order(spans)) d.rows.push_back(rows[i]), d.spans.push_back(spans[i]);
  return d;
}

class DeviceWriter {
 public:
  explicit DeviceWriter(Export& e) : e_(e), c_(e.context.capture), at_(e.context.attribution) {}
  void write(const DeviceTimeline& line);

 private:
  void write_idle(const DeviceTimeline& line, std::uint64_t parent);
  void write_stream(std::int64_t stream, const std::vector<std::uint32_t>& rows,
                    std::uint64_t parent, int& order);
  std::vector<Fact> facts_of(std::uint32_t a);
  std::string_view short_name(Text id);
  std::string_view kept(std::string text);

  Export& e_;
  const Capture& c_;
  const Attribution& at_;
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

std::vector<Fact> DeviceWriter::facts_of(std::uint32_t a) {
  const auto& t = c_.activities;
  std::vector<Fact> facts;
  auto text = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) facts.push_back({name, value});
  };
  auto number = [&](std::string_view name, std::int64_t value) {
    if (value >= 0) facts.push_back({name, value});
  };
  if (a < at_.op.size() && at_.op[a] != kNoRow)
    text("operator", c_.text(c_.host_ops.name[at_.op[a]]));
  if (a < at_.module.size()) text("module", at_.modules[at_.module[a]]);
  if (a < at_.layer.size()) text("layer type", at_.layer_types[at_.layer[a]]);
  if (t.kind[a] == ActivityKind::kernel) {
    text("kernel", c_.text(t.name[a]));
    if (t.grid_x[a] >= 0)
      text("grid", kept(fmt::format("{} x {} x {}", t.grid_x[a], t.grid_y[a], t.grid_z[a])));
    if (t.block_x[a] >= 0)
      text("block", kept(fmt::format("{} x {} x {}", t.block_x[a], t.block_y[a], t.block_z[a])));
    number("registers a thread", t.registers[a]);
    number("shared bytes a block", t.shared_bytes[a]);
  }
  number("bytes", t.bytes[a]);
  number("correlation", t.correlation[a]);
  number("graph node", t.graph_node[a]);
  return facts;
}

void DeviceWriter::write_stream(std::int64_t stream, const std::vector<std::uint32_t>& rows,
                                std::uint64_t parent, int& order) {
  const auto& t = c_.activities;
  const Drawn all = drawn(
      e_, rows, [&](auto r) { return t.start_ns[r]; }, [&](auto r) { return t.duration_ns[r]; });
  const auto lane = free_rows(all.spans);
  const auto lanes = lane.empty() ? 0 : *std::max_element(lane.begin(), lane.end()) + 1;
  for (std::uint32_t l = 0; l < lanes; ++l) {
    std::vector<std::size_t> here;
    for (std::size_t i = 0; i < lane.size(); ++i)
      if (lane[i] == l) here.push_back(i);
    const auto track = e_.out.track(
        l == 0 ? fmt::format("stream {}", stream) : fmt::format("stream {}, overlap {}", stream, l),
        parent, order++);
    std::vector<Fact> facts;
    write_nested(e_.out, track, here.size(), [&](std::size_t i) {
      const auto row = all.rows[here[i]];
      facts = facts_of(row);
      const bool launched = row < at_.launch.size() && at_.launch[row] != kNoRow;
      return Slice{
          all.spans[here[i]],
          t.kind[row] == ActivityKind::kernel ? short_name(t.name[row]) : c_.text(t.name[row]),
          name_of(t.kind[row]),
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
  write_nested(e_.out, track, line.idle_pieces.size(), [&](std::size_t i) {
    const auto& piece = line.idle_pieces[i];
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
  const auto& d = c_.devices;
  const auto parent = e_.out.track(
      fmt::format("GPU {} {}", d.id[line.device], c_.text(d.name[line.device])), 0, e_.order++);
  write_idle(line, parent);
  std::map<std::int64_t, std::vector<std::uint32_t>> streams;
  const auto& t = c_.activities;
  for (std::uint32_t a = 0; a < t.size(); ++a)
    if (t.device[a] == line.device) streams[t.stream[a]].push_back(a);
  int order = 1;
  for (const auto& [stream, rows] : streams) write_stream(stream, rows, parent, order);
  write_levels(e_, line, parent);
}

void write_steps(Export& e) {
  const auto& steps = e.context.window.all_steps;
  if (steps.empty()) return;
  const auto track = e.out.track("steps", 0, e.order++);
  std::string name;
  write_nested(e.out, track, steps.size(), [&](std::size_t i) {
    name = fmt::format("step {}", steps[i].index);
    return Slice{{steps[i].start_ns + e.shift, steps[i].start_ns + steps[i].duration_ns + e.shift},
                 name,
                 "step"};
  });
}

}  // namespace

void write_devices(Export& e) {
  write_steps(e);
  DeviceWriter writer(e);
  for (const auto& line : e.context.devices) writer.write(line);
}

}  // namespace gf::perfetto
