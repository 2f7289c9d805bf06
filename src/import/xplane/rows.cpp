#include "import/xplane/rows.h"

#include <fmt/format.h>

#include "import/said_columns.h"
#include "import/xplane/programs.h"

namespace gf::xplane {

namespace {

constexpr std::uint64_t kThreadpool =
    15;  // ContextType::kThreadpoolEvent, xla/tsl/profiler/lib/context_types.h

void place(Part& part, Part::Where where, Column<Text>& column, std::uint32_t row,
           const EventText& value) {
  if (value.id != Text{})
    put(column, row, value.id);
  else if (!value.inline_text.empty())
    part.texts.push_back({where, row, value.inline_text});
}

/// The operation of a compiled program that an event is about.
std::uint32_t program_op(Part& part, const LineContext& line, const EventFields& fields) {
  if (!line.programs || fields.program < 0) return kNoRow;
  if (fields.op.id == Text{}) return line.programs->find(fields.program, fields.op_name);
  auto& known = part.known_ops[static_cast<std::size_t>(fields.op.id) % part.known_ops.size()];
  if (known.program != fields.program || known.op != fields.op.id)
    known = {fields.program, fields.op.id, line.programs->find(fields.program, fields.op_name)};
  return known.row;
}

void add_activity(Part& part, const LineContext& line, const EventName& name,
                  const EventFields& fields, Nanos start, Nanos duration) {
  const auto kind = device_event_kind(name.name, fields.kernel, fields.memcpy, fields.memset);
  if (!kind) return;
  auto& activities = part.activities;
  const auto row = static_cast<std::uint32_t>(activities.size());
  activities.start_ns.push_back(start);
  activities.duration_ns.push_back(duration);
  activities.device.push_back(line.device);
  activities.stream.push_back(line.stream);
  put(activities.context, row, fields.context);
  activities.name.push_back(name.text);
  activities.kind.push_back(*kind);
  put(activities.correlation, row, fields.correlation);
  put(activities.pid, row, line.pid);
  put(activities.graph_id, row, fields.graph);
  put(activities.graph_node, row, fields.graph_node);
  place(part, Part::Where::op, activities.op, row, fields.op);
  place(part, Part::Where::scope, activities.scope, row, fields.scope);
  const auto operation = program_op(part, line, fields);
  put(activities.program_op, row, operation);
  if (operation == kNoRow && line.programs && line.programs->knows(fields.program))
    add(part.unplaced, {row, row + 1, fields.program});
  const Details* details = fields.details;
  if (fields.occupancy_pct > 0)
    put(activities.occupancy, row, fields.occupancy_pct / 100);
  else if (details && *kind == ActivityKind::kernel)
    put(activities.occupancy, row, details->occupancy);
  if (*kind == ActivityKind::memcpy) {
    CopyKind copy = copy_from_name(name.name);
    if (copy == CopyKind::unknown && details) copy = details->copy;
    put(activities.copy, row, copy);
  }
  if (!details) return;
  if (*kind != ActivityKind::kernel) {
    put(activities.bytes, row, details->bytes);
    return;
  }
  put(activities.grid_x, row, details->grid[0]);
  put(activities.grid_y, row, details->grid[1]);
  put(activities.grid_z, row, details->grid[2]);
  put(activities.block_x, row, details->block[0]);
  put(activities.block_y, row, details->block[1]);
  put(activities.block_z, row, details->block[2]);
  put(activities.registers, row, details->registers);
  put(activities.shared_bytes, row, details->shared_bytes);
}

void add_api_call(Part& part, const LineContext& line, const EventName& name,
                  const EventFields& fields, ApiKind kind, Nanos start, Nanos duration) {
  auto& api_calls = part.api_calls;
  const auto row = api_calls.size();
  api_calls.start_ns.push_back(start);
  api_calls.duration_ns.push_back(duration);
  api_calls.thread.push_back(line.thread);
  api_calls.name.push_back(name.text);
  api_calls.kind.push_back(kind);
  put(api_calls.correlation, row, fields.correlation);
}

void add_handoff(Part& part, const LineContext& line, const EventFields& fields, bool leaves,
                 Nanos time) {
  if ((leaves ? fields.consumer_type : fields.producer_type) != kThreadpool) return;
  auto& handoffs = part.handoffs;
  const auto row = handoffs.add();
  if (leaves) {
    handoffs.id[row] = fields.consumer;
  } else {
    handoffs.id[row] = fields.producer;
  }
  handoffs.time_ns[row] = time;
  handoffs.thread[row] = line.thread;
  if (leaves) {
    handoffs.leaves[row] = 1;
  } else {
    handoffs.leaves[row] = 0;
  }
  handoffs.queue[row] = line.threadpool;
}

void add_memory_event(Part& part, const LineContext& line, const EventFields& fields, bool freed,
                      Nanos time) {
  auto& memory_events = part.memory_events;
  const auto row = memory_events.add();
  memory_events.time_ns[row] = time;
  memory_events.thread[row] = line.thread;
  memory_events.address[row] = fields.address;
  std::int64_t bytes = 0;
  if (fields.allocation_bytes > 0) bytes = fields.allocation_bytes;
  if (freed) {
    memory_events.bytes[row] = -bytes;
  } else {
    memory_events.bytes[row] = bytes;
  }
  memory_events.allocated_bytes[row] = fields.bytes_allocated;
  if (fields.bytes_reserved > 0) {
    memory_events.reserved_bytes[row] = fields.bytes_reserved;
  } else {
    memory_events.reserved_bytes[row] = -1;
  }
}

void add_span(Part& part, const LineContext& line, const EventName& name, const EventFields& fields,
              HostKind kind, Nanos start, Nanos duration) {
  auto& host_ops = part.host_ops;
  const auto row = static_cast<std::uint32_t>(host_ops.size());
  host_ops.start_ns.push_back(start);
  host_ops.duration_ns.push_back(duration);
  host_ops.thread.push_back(line.thread);
  host_ops.name.push_back(name.text);
  if (line.plane->kind == PlaneKind::python)
    kind = HostKind::python;
  else if (fields.has_step)
    kind = HostKind::annotation;
  host_ops.kind.push_back(kind);
  const EventText& type = fields.type.empty() ? fields.op : fields.type;
  if (type.id == Text{}) put(host_ops.op_type, row, name.op_type);
  place(part, Part::Where::op_type, host_ops.op_type, row, type);
  place(part, Part::Where::shapes, host_ops.shapes, row, fields.shapes);
  put(host_ops.program_op, row, program_op(part, line, fields));
  if (!fields.has_step) return;
  const auto step = part.steps.add();
  part.steps.index[step] = fields.step;
  part.steps.start_ns[step] = start;
  part.steps.duration_ns[step] = duration;
  part.steps.name[step] = name.text;
}

}  // namespace

void add(std::vector<Unplaced>& all, const Unplaced& more) {
  if (!all.empty() && all.back().end == more.first && all.back().program == more.program)
    all.back().end = more.end;
  else
    all.push_back(more);
}

bool add_row(Part& part, const LineContext& line, const EventName& name,
             const EventFields& fields) {
  // Both ends are rounded down alike: a monotone map keeps nesting and order, and times that the
  // source kept in nanoseconds (all of CUPTI's) stay exact.
  std::int64_t end_ps = 0;
  if (fields.duration_ps < 0 ||
      __builtin_add_overflow(fields.offset_ps, fields.duration_ps, &end_ps))
    return false;
  auto floor_ns = [](std::int64_t ps) { return ps / 1000 - (ps % 1000 < 0 ? 1 : 0); };
  Nanos start = 0, end = 0;
  if (__builtin_add_overflow(line.base_ns, floor_ns(fields.offset_ps), &start) ||
      __builtin_add_overflow(line.base_ns, floor_ns(end_ps), &end))
    return false;
  const Nanos duration = end - start;
  if (line.device != kNoRow) {
    add_activity(part, line, name, fields, start, duration);
    return true;
  }
  HostName host_name = name.host;
  // XLA names calls after what they launch: only the number by which CUPTI joins them tells.
  if (host_name.event == HostEvent::span && fields.correlation > 0)
    host_name.event = HostEvent::api_call;
  switch (line.calls_alone ? HostEvent::api_call : host_name.event) {
    case HostEvent::drop:
      break;
    case HostEvent::api_call:
      add_api_call(part, line, name, fields, host_name.api, start, duration);
      break;
    case HostEvent::queue_enter:
      add_handoff(part, line, fields, false, start);
      break;
    case HostEvent::queue_leave:
      add_handoff(part, line, fields, true, start);
      break;
    case HostEvent::allocation:
      add_memory_event(part, line, fields, false, start);
      break;
    case HostEvent::deallocation:
      add_memory_event(part, line, fields, true, start);
      break;
    case HostEvent::span:
      add_span(part, line, name, fields, host_name.kind, start, duration);
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
  unplaced.clear();
  events = bad = untimed = unnamed = 0;
  first_bad = nullptr;
}

void join_part(Capture& capture, Part& part, std::string_view file) {
  complete(part.host_ops);
  complete(part.api_calls);
  complete(part.activities);
  const auto ops = static_cast<std::uint32_t>(capture.host_ops.size()),
             activities = static_cast<std::uint32_t>(capture.activities.size());
  capture.host_ops.append(part.host_ops);
  capture.api_calls.append(part.api_calls);
  capture.activities.append(part.activities);
  capture.handoffs.append(part.handoffs);
  capture.memory_events.append(part.memory_events);
  capture.steps.append(part.steps);
  for (const auto& text : part.texts) {
    const Text id = capture.strings.intern(text.text);
    switch (text.where) {
      case Part::Where::op_type:
        capture.host_ops.op_type[ops + text.row] = id;
        break;
      case Part::Where::shapes:
        capture.host_ops.shapes[ops + text.row] = id;
        break;
      case Part::Where::op:
        capture.activities.op[activities + text.row] = id;
        break;
      case Part::Where::scope:
        capture.activities.scope[activities + text.row] = id;
        break;
    }
  }
  capture.events += part.events;
  if (part.bad > 0)
    capture.note_quality(
        QualityCode::bad_event,
        fmt::format("an event cannot be read or has an impossible time, the first at byte {}",
                    part.first_bad - file.data()),
        part.bad);
  if (part.untimed > 0)
    capture.note_quality(QualityCode::untimed_event,
                         "an event is only a count over the whole profile and has no time",
                         part.untimed);
  if (part.unnamed > 0)
    capture.note_quality(QualityCode::no_name, "an event's name is not in the profile",
                         part.unnamed);
}

}  // namespace gf::xplane
