#include "import/xplane/events.h"

#include <charconv>
#include <cmath>
#include <protozero/pbf_reader.hpp>

#include "import/xplane/schema.h"

namespace gf::xplane {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

constexpr std::uint64_t kThreadpool = 15;  // ContextType::kThreadpoolEvent, xla/tsl/profiler/lib/context_types.h

/// The stats of one event, as far as the capture has a place for them.
struct Event {
  std::uint64_t metadata_id = 0;
  std::int64_t offset_ps = 0, duration_ps = 0;
  bool aggregated = false;
  std::int64_t correlation = -1, context = -1, graph = -1, graph_node = -1, step = -1, producer = -1, consumer = -1;
  std::uint64_t producer_type = 0, consumer_type = 0;
  std::int64_t allocation_bytes = -1, bytes_allocated = -1, bytes_reserved = -1, address = -1, device_id = -1;
  double occupancy_pct = NAN;
  bool has_step = false, kernel = false, memcpy = false, memset = false;
  const Details* details = nullptr;
  Details inline_details;
  struct TextValue { Text id{}; std::string_view inline_text; bool empty() const { return id == Text{} && inline_text.empty(); } };
  TextValue op, scope, type, shapes;
};

struct Decoder {
  const LineContext& line;
  Part& out;
  Event e;

  std::int64_t integer(const StatValue& v) const {
    if (v.kind == StatValue::Kind::number) return static_cast<std::int64_t>(v.bits);
    auto text = text_of(*line.plane, v);
    if (text.starts_with("$$")) text.remove_prefix(2);  // xprof marks ids that stand for names this way
    std::int64_t value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  Event::TextValue text(const StatValue& v) const {
    if (v.kind == StatValue::Kind::text) return {Text{}, v.text};
    if (v.kind != StatValue::Kind::ref) return {};
    const auto* name = line.plane->stat_names.find(v.bits);
    return name ? Event::TextValue{name->text, {}} : Event::TextValue{};
  }

  void details(const StatValue& v) {
    if (v.kind == StatValue::Kind::ref) {
      const auto* name = line.plane->stat_names.find(v.bits);
      if (name && name->details >= 0) e.details = &line.plane->details[static_cast<std::size_t>(name->details)];
    } else if (v.kind == StatValue::Kind::text) {
      e.inline_details = parse_details(v.text);
      e.details = &e.inline_details;
    }
  }

  void stat(std::string_view message) {
    const StatValue v = read_stat(message);
    const auto* name = line.plane->stat_names.find(v.id);
    if (!name) return;
    switch (name->stat) {
      case Stat::none: break;
      case Stat::correlation_id: e.correlation = integer(v); break;
      case Stat::kernel_details: e.kernel = true; details(v); break;
      case Stat::memcpy_details: e.memcpy = true; details(v); break;
      case Stat::memset_details: e.memset = true; details(v); break;
      case Stat::hlo_op: e.op = text(v); break;
      case Stat::name: e.scope = text(v); break;
      case Stat::tf_op:
        if (e.scope.empty() && !text_of(*line.plane, v).starts_with("XlaModule:")) e.scope = text(v);
        break;
      case Stat::eager_op: e.type = text(v); break;
      case Stat::tensor_shapes: e.shapes = text(v); break;
      case Stat::step_num: e.step = integer(v); e.has_step = true; break;
      case Stat::context_id: e.context = integer(v); break;
      case Stat::graph_id: e.graph = integer(v); break;
      case Stat::graph_node: e.graph_node = integer(v); break;
      case Stat::occupancy_pct: e.occupancy_pct = v.kind == StatValue::Kind::real ? v.real : NAN; break;
      case Stat::device_id: e.device_id = integer(v); break;
      case Stat::producer_type: e.producer_type = v.bits; break;
      case Stat::producer_id: e.producer = integer(v); break;
      case Stat::consumer_type: e.consumer_type = v.bits; break;
      case Stat::consumer_id: e.consumer = integer(v); break;
      case Stat::allocation_bytes: e.allocation_bytes = integer(v); break;
      case Stat::bytes_allocated: e.bytes_allocated = integer(v); break;
      case Stat::bytes_reserved: e.bytes_reserved = integer(v); break;
      case Stat::address: e.address = integer(v); break;
    }
  }

  void place(Part::Where where, Column<Text>& column, std::uint32_t row, const Event::TextValue& value) {
    if (value.id != Text{}) column[row] = value.id;
    else if (!value.inline_text.empty()) out.texts.push_back({where, row, value.inline_text});
  }

  void event(std::string_view message) {
    ++out.events;
    e = Event{};
    const EventName* name = nullptr;
    pbf_reader r{message.data(), message.size()};
    while (r.next()) {
      switch (r.tag_and_type()) {
        case tag_and_type(field::event::metadata_id, pbf_wire_type::varint):
          e.metadata_id = r.get_uint64();
          name = line.plane->event_names.find(e.metadata_id);
          if (name)
            for (const auto s : name->stats) stat(s);
          break;
        case tag_and_type(field::event::offset_ps, pbf_wire_type::varint): e.offset_ps = r.get_int64(); break;
        case tag_and_type(field::event::duration_ps, pbf_wire_type::varint): e.duration_ps = r.get_int64(); break;
        case tag_and_type(field::event::stats, pbf_wire_type::length_delimited): {
          const auto s = r.get_view();
          stat({s.data(), s.size()});
          break;
        }
        case tag_and_type(field::event::num_occurrences, pbf_wire_type::varint): e.aggregated = true; r.skip(); break;
        default: r.skip();
      }
    }
    if (e.aggregated) {  // a count over the whole profile, without a time of its own
      ++out.untimed;
      return;
    }
    // Both ends are rounded down alike: a monotone map keeps nesting and order, and times that the source kept in
    // nanoseconds (all of CUPTI's) stay exact.
    std::int64_t end_ps = 0;
    if (e.duration_ps < 0 || __builtin_add_overflow(e.offset_ps, e.duration_ps, &end_ps)) return bad(message);
    auto floor_ns = [](std::int64_t ps) { return ps / 1000 - (ps % 1000 < 0 ? 1 : 0); };
    const auto start = checked_add(line.base_ns, floor_ns(e.offset_ps));
    const auto end = checked_add(line.base_ns, floor_ns(end_ps));
    if (!start || !end) return bad(message);
    static const EventName unnamed;
    const EventName& n = name ? *name : unnamed;
    if (line.device != kNoRow) device_event(n, *start, *end - *start);
    else host_event(n, *start, *end - *start);
  }

  void bad(std::string_view message) {
    ++out.bad;
    if (!out.first_bad) out.first_bad = message.data();
  }

  void device_event(const EventName& n, Nanos start, Nanos duration) {
    const auto kind = device_event_kind(n.name, e.kernel, e.memcpy, e.memset);
    if (!kind) return;
    auto& t = out.activities;
    const auto row = t.add();
    t.start_ns[row] = start;
    t.duration_ns[row] = duration;
    t.device[row] = line.device;
    t.stream[row] = line.stream;
    t.context[row] = e.context;
    t.name[row] = n.text;
    t.kind[row] = *kind;
    t.correlation[row] = e.correlation;
    t.pid[row] = line.pid;
    t.graph_id[row] = e.graph;
    t.graph_node[row] = e.graph_node;
    place(Part::Where::op, t.op, row, e.op);
    place(Part::Where::scope, t.scope, row, e.scope);
    if (e.occupancy_pct > 0) t.occupancy[row] = e.occupancy_pct / 100;
    const Details* d = e.details;
    if (*kind == ActivityKind::memcpy) {
      t.copy[row] = copy_from_name(n.name);
      if (t.copy[row] == CopyKind::unknown && d) t.copy[row] = d->copy;
    }
    if (!d) return;
    if (*kind != ActivityKind::kernel) {
      t.bytes[row] = d->bytes;
      return;
    }
    t.grid_x[row] = d->grid[0];
    t.grid_y[row] = d->grid[1];
    t.grid_z[row] = d->grid[2];
    t.block_x[row] = d->block[0];
    t.block_y[row] = d->block[1];
    t.block_z[row] = d->block[2];
    t.registers[row] = d->registers;
    t.shared_bytes[row] = d->shared_bytes;
    if (!(e.occupancy_pct > 0)) t.occupancy[row] = d->occupancy;
  }

  void host_event(const EventName& n, Nanos start, Nanos duration) {
    HostName h = classify_host(n.name, n.display_name, line.thread_name);
    switch (h.event) {
      case HostEvent::drop: return;
      case HostEvent::api_call: {
        auto& t = out.api_calls;
        const auto row = t.add();
        t.start_ns[row] = start;
        t.duration_ns[row] = duration;
        t.thread[row] = line.thread;
        t.name[row] = n.text;
        t.kind[row] = h.api;
        t.correlation[row] = e.correlation;
        return;
      }
      case HostEvent::queue_enter:
      case HostEvent::queue_leave: {
        const bool leaves = h.event == HostEvent::queue_leave;
        if ((leaves ? e.consumer_type : e.producer_type) != kThreadpool) return;
        auto& t = out.handoffs;
        const auto row = t.add();
        t.id[row] = leaves ? e.consumer : e.producer;
        t.time_ns[row] = start;
        t.thread[row] = line.thread;
        t.leaves[row] = leaves ? 1 : 0;
        t.queue[row] = line.threadpool;
        return;
      }
      case HostEvent::allocation:
      case HostEvent::deallocation: {
        auto& t = out.memory_events;
        const auto row = t.add();
        t.time_ns[row] = start;
        t.thread[row] = line.thread;
        t.address[row] = e.address;
        const auto bytes = e.allocation_bytes > 0 ? e.allocation_bytes : 0;
        t.bytes[row] = h.event == HostEvent::allocation ? bytes : -bytes;
        t.allocated_bytes[row] = e.bytes_allocated;
        t.reserved_bytes[row] = e.bytes_reserved > 0 ? e.bytes_reserved : -1;
        return;
      }
      case HostEvent::span: break;
    }
    auto& t = out.host_ops;
    const auto row = t.add();
    t.start_ns[row] = start;
    t.duration_ns[row] = duration;
    t.thread[row] = line.thread;
    t.name[row] = n.text;
    t.kind[row] = line.plane->kind == PlaneKind::python ? HostKind::python : e.has_step ? HostKind::annotation : h.kind;
    t.op_type[row] = n.op_type;
    place(Part::Where::op_type, t.op_type, row, e.type.empty() ? e.op : e.type);
    place(Part::Where::shapes, t.shapes, row, e.shapes);
    if (!e.has_step) return;
    const auto step = out.steps.add();
    out.steps.index[step] = e.step;
    out.steps.start_ns[step] = start;
    out.steps.duration_ns[step] = duration;
    out.steps.name[step] = n.text;
  }
};

}  // namespace

Part decode(std::string_view chunk, const LineContext& line) {
  Part part;
  Decoder d{line, part, {}};
  pbf_reader r{chunk.data(), chunk.size()};
  while (r.next()) {  // the scan has walked these fields once: they are whole
    if (r.tag_and_type() != tag_and_type(field::line::events, pbf_wire_type::length_delimited)) {
      r.skip();
      continue;
    }
    const auto v = r.get_view();
    const std::string_view message{v.data(), v.size()};
    try {
      d.event(message);
    } catch (const protozero::exception&) {
      d.bad(message);
    }
  }
  return part;
}

}  // namespace gf::xplane
