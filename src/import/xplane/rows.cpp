#include "import/xplane/rows.h"

#include <fmt/format.h>

namespace gf::xplane {

namespace {

constexpr std::uint64_t kThreadpool =
    15;  // ContextType::kThreadpoolEvent, xla/tsl/profiler/lib/context_types.h

void place(Part& part, Part::Where where, Column<Text>& column, std::uint32_t row,
           const EventText& value) {
  if (value.id != Text{})
    column[row] = value.id;
  else if (!value.inline_text.empty())
    part.texts.push_back({where, row, value.inline_text});
}

void add_activity(Part& part, const LineContext& line, const EventName& n, const EventFields& e,
                  Nanos start, Nanos duration) {
  const auto kind = device_event_kind(n.name, e.kernel, e.memcpy, e.memset);
  if (!kind) return;
  auto& t = part.activities;
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
  place(part, Part::Where::op, t.op, row, e.op);
  place(part, Part::Where::scope, t.scope, row, e.scope);
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

void add_api_call(Part& part, const LineContext& line, const EventName& n, const EventFields& e,
                  ApiKind kind, Nanos start, Nanos duration) {
  auto& t = part.api_calls;
  const auto row = t.add();
  t.start_ns[row] = start;
  t.duration_ns[row] = duration;
  t.thread[row] = line.thread;
  t.name[row] = n.text;
  t.kind[row] = kind;
  t.correlation[row] = e.correlation;
}

void add_handoff(Part& part, const LineContext& line, const EventFields& e, bool leaves,
                 Nanos time) {
  if ((leaves ? e.consumer_type : e.producer_type) != kThreadpool) return;
  auto& t = part.handoffs;
  const auto row = t.add();
  t.id[row] = leaves ? e.consumer : e.producer;
  t.time_ns[row] = time;
  t.thread[row] = line.thread;
  t.leaves[row] = leaves ? 1 : 0;
  t.queue[row] = line.threadpool;
}

void add_memory_event(Part& part, const LineContext& line, const EventFields& e, bool freed,
                      Nanos time) {
  auto& t = part.memory_events;
  const auto row = t.add();
  t.time_ns[row] = time;
  t.thread[row] = line.thread;
  t.address[row] = e.address;
  const std::int64_t bytes = e.allocation_bytes > 0 ? e.allocation_bytes : 0;
  t.bytes[row] = freed ? -bytes : bytes;
  t.allocated_bytes[row] = e.bytes_allocated;
  t.reserved_bytes[row] = e.bytes_reserved > 0 ? e.bytes_reserved : -1;
}

void add_span(Part& part, const LineContext& line, const EventName& n, const EventFields& e,
              HostKind kind, Nanos start, Nanos duration) {
  auto& t = part.host_ops;
  const auto row = t.add();
  t.start_ns[row] = start;
  t.duration_ns[row] = duration;
  t.thread[row] = line.thread;
  t.name[row] = n.text;
  t.kind[row] = line.plane->kind == PlaneKind::python ? HostKind::python
                : e.has_step                          ? HostKind::annotation
                                                      : kind;
  t.op_type[row] = n.op_type;
  place(part, Part::Where::op_type, t.op_type, row, e.type.empty() ? e.op : e.type);
  place(part, Part::Where::shapes, t.shapes, row, e.shapes);
  if (!e.has_step) return;
  const auto step = part.steps.add();
  part.steps.index[step] = e.step;
  part.steps.start_ns[step] = start;
  part.steps.duration_ns[step] = duration;
  part.steps.name[step] = n.text;
}

}  // namespace

bool add_row(Part& part, const LineContext& line, const EventName& name, const EventFields& e) {
  // Both ends are rounded down alike: a monotone map keeps nesting and order, and times that the
  // source kept in nanoseconds (all of CUPTI's) stay exact.
  std::int64_t end_ps = 0;
  if (e.duration_ps < 0 || __builtin_add_overflow(e.offset_ps, e.duration_ps, &end_ps))
    return false;
  auto floor_ns = [](std::int64_t ps) { return ps / 1000 - (ps % 1000 < 0 ? 1 : 0); };
  Nanos start = 0, end = 0;
  if (__builtin_add_overflow(line.base_ns, floor_ns(e.offset_ps), &start) ||
      __builtin_add_overflow(line.base_ns, floor_ns(end_ps), &end))
    return false;
  const Nanos duration = end - start;
  if (line.device != kNoRow) {
    add_activity(part, line, name, e, start, duration);
    return true;
  }
  const HostName& h = name.host;
  switch (line.calls_alone ? HostEvent::api_call : h.event) {
    case HostEvent::drop:
      break;
    case HostEvent::api_call:
      add_api_call(part, line, name, e, h.api, start, duration);
      break;
    case HostEvent::queue_enter:
      add_handoff(part, line, e, false, start);
      break;
    case HostEvent::queue_leave:
      add_handoff(part, line, e, true, start);
      break;
    case HostEvent::allocation:
      add_memory_event(part, line, e, false, start);
      break;
    case HostEvent::deallocation:
      add_memory_event(part, line, e, true, start);
      break;
    case HostEvent::span:
      add_span(part, line, name, e, h.kind, start, duration);
      break;
  }
  return true;
}

void Part::clear() {
  host_ops.clear();
  api_calls.clear();
  activities.clear();
  handoffs.clear();
  memory_events.clear();
  steps.clear();
  texts.clear();
  events = bad = untimed = 0;
  first_bad = nullptr;
}

void join_part(Capture& c, const Part& part, std::string_view file) {
  const auto ops = static_cast<std::uint32_t>(c.host_ops.size()),
             activities = static_cast<std::uint32_t>(c.activities.size());
  c.host_ops.append(part.host_ops);
  c.api_calls.append(part.api_calls);
  c.activities.append(part.activities);
  c.handoffs.append(part.handoffs);
  c.memory_events.append(part.memory_events);
  c.steps.append(part.steps);
  for (const auto& t : part.texts) {
    const Text id = c.strings.intern(t.text);
    switch (t.where) {
      case Part::Where::op_type:
        c.host_ops.op_type[ops + t.row] = id;
        break;
      case Part::Where::shapes:
        c.host_ops.shapes[ops + t.row] = id;
        break;
      case Part::Where::op:
        c.activities.op[activities + t.row] = id;
        break;
      case Part::Where::scope:
        c.activities.scope[activities + t.row] = id;
        break;
    }
  }
  c.events += part.events;
  if (part.bad > 0)
    c.note_quality(
        QualityCode::bad_event,
        fmt::format("an event cannot be read or has an impossible time, the first at byte {}",
                    part.first_bad - file.data()),
        part.bad);
  if (part.untimed > 0)
    c.note_quality(QualityCode::untimed_event,
                   "an event is only a count over the whole profile and has no time", part.untimed);
}

}  // namespace gf::xplane
