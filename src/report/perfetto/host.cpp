#include <fmt/format.h>

#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "model/counter_values.h"
#include "model/metrics.h"
#include "report/perfetto/parts.h"
#include "report/perfetto/tracks.h"

namespace gf::perfetto {

namespace {

bool is_os_id(std::int64_t id) { return id > 0 && id <= std::numeric_limits<std::int32_t>::max(); }

/// What each call launched, by row of api_calls.
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
