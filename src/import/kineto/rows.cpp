#include "import/kineto/rows.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <string>

#include "core/secrets.h"
#include "import/gpu_api.h"
#include "import/kineto/numbers.h"
#include "import/trace_rows.h"
#include "model/counter_values.h"

namespace gf::kineto {

namespace {

// A span of more than a day is a defect of the recording (seen as garbage end times), not work.
constexpr Nanos kLongestSpan = 86'400 * kNsPerSecond;
// Times stay far enough inside int64 that a base can be added.
constexpr Nanos kTimeLimit = std::int64_t{1} << 61;

constexpr std::uint8_t kUnknown = 255;

constexpr char kBadValue[] =
    "a value that is not a usable number (NaN, Infinity, a text, beyond 64 bits) was left out";
constexpr char kBadTime[] = "event without a usable time";

}  // namespace

Text Rows::text(std::string_view text) {
  const auto known = worker_.strings.size();
  const Text id = worker_.strings.intern(text);
  if (worker_.strings.size() > known) chunk_.texts.push_back(worker_.strings.view(id));
  return id;
}

Text Rows::other_name(const Event& event) {
  const Text id = text(event, Field::name);
  if (event.name_guess) *event.name_guess = {id, worker_.strings.view(id)};
  return id;
}

std::uint32_t Rows::thread(const Event& event) {
  if (last_thread_ != kNoRow && last_pid_.is(event.text(Field::pid)) &&
      last_tid_.is(event.text(Field::tid)))
    return last_thread_;
  const auto number = thread_number(event);
  if (auto& thread = worker_.threads[number]; !thread.told) {
    thread.told = true;
    chunk_.threads.push_back({number, thread.key});
  }
  return last_thread_ = number;
}

std::uint32_t Rows::thread_number(const Event& event) {
  const auto pid = event.text(Field::pid), tid = event.text(Field::tid);
  std::string key;
  key.reserve(pid.size() + tid.size() + 1);
  key.append(pid).append(1, '\0').append(tid);
  auto [at, added] = worker_.thread_of.try_emplace(
      std::move(key), static_cast<std::uint32_t>(worker_.threads.size()));
  if (added) {
    const auto pid_number = parse_integer(pid), tid_number = parse_integer(tid);
    worker_.threads.push_back({{pid_number.value_or(-1), tid_number.value_or(-1),
                                std::string(pid_number ? std::string_view{} : pid),
                                std::string(tid_number ? std::string_view{} : tid)}});
  }
  last_pid_ = ShortText(pid);
  last_tid_ = ShortText(tid);
  last_thread_ = kNoRow;
  return at->second;
}

std::int64_t Rows::other_integer(std::string_view text, std::int64_t fallback, std::int64_t at) {
  if (auto value = parse_integer(text)) return *value;
  if (text != "null") chunk_.note(QualityCode::bad_value, kBadValue, at);
  return fallback;
}

std::int32_t Rows::too_large(std::int64_t at) {
  chunk_.note(QualityCode::bad_value, kBadValue, at);
  return -1;
}

double Rows::real(const Event& event, Field field, std::int64_t at) {
  const Token* const token = event.find(field);
  if (!token) return NAN;
  if (auto whole = short_integer_of_token(token->text())) return static_cast<double>(*whole);
  if (auto value = parse_real(token->text())) return *value;
  if (token->text() == "null") return NAN;
  chunk_.note(QualityCode::bad_value, kBadValue, at);
  return NAN;
}

Rows::Extent Rows::extent(const Event& event, Field field, std::int64_t at) {
  constexpr Extent kNotSaid{-1, -1, -1};
  const Token* const token = event.find(field);
  if (!token) return kNotSaid;
  const auto text = token->text();
  const char* cursor = text.data();
  const char* end = cursor + text.size();
  Extent out;
  for (auto& value : out) {
    while (cursor < end &&
           (*cursor == '[' || *cursor == ',' || static_cast<unsigned char>(*cursor) <= ' '))
      ++cursor;
    value = 0;
    const char* digit = cursor;
    for (; digit < end && digit < cursor + 9 && static_cast<unsigned char>(*digit - '0') < 10;
         ++digit)
      value = value * 10 + (*digit - '0');
    if (digit > cursor && digit < end && (*digit == ',' || *digit == ']')) {
      cursor = digit;
      continue;
    }
    const auto [stop, error] = std::from_chars(cursor, end, value);
    if (error != std::errc()) {
      chunk_.note(QualityCode::bad_value, kBadValue, at);
      return kNotSaid;
    }
    cursor = stop;
  }
  return out;
}

/// It comes to the merge in the order of first use.
std::uint32_t Rows::told_device(std::uint32_t id) {
  if (id != kNoRow && worker_.devices.insert(id).second) chunk_.devices.push_back({id, {}});
  return id;
}

/// The device's number where the event's process is that number, too, as Kineto writes it; else the
/// worker's number for both: traces of several processes may be merged into one.
std::uint32_t Rows::device(const Event& event, std::int64_t at) {
  const auto pid = event.text(Field::pid);
  std::uint32_t id = kNoRow;
  const bool said = event.has(Field::device);
  const auto behind = parse_integer(pid.substr(pid.find_last_of(' ') + 1));
  if (!said && behind && *behind >= 0 && *behind <= INT32_MAX)
    id = static_cast<std::uint32_t>(*behind);
  else
    id = static_cast<std::uint32_t>(small(event, said ? Field::device : Field::pid, at));
  if (id == kNoRow || parse_integer(pid) == id) return told_device(id);
  const auto [found, added] = worker_.device_of.try_emplace(
      std::string(pid) + '\0' + std::to_string(id),
      kFirstPlacedDevice + static_cast<std::uint32_t>(worker_.device_of.size()));
  if (added) chunk_.devices.push_back({id, std::string(pid)});
  return found->second;
}

std::int64_t Rows::stream(const Event& event, std::int64_t at) {
  if (event.has(Field::stream)) return integer(event, Field::stream, -1, at);
  auto tid = event.text(Field::tid);
  if (tid.starts_with("stream ")) tid.remove_prefix(7);
  return parse_integer(tid).value_or(-1);
}

/// In line where nearly all times are read.
[[gnu::always_inline]] inline bool Rows::time_of_span(const Event& event, Field field, Nanos& ns) {
  const Token* const token = event.find(field);
  if (!token) return false;
  const auto value = parse_us_of_token(token->text(), time_head_);
  if (!value || *value > kTimeLimit || *value < -kTimeLimit) return false;
  ns = *value;
  return true;
}

bool Rows::time(const Event& event, Field field, Nanos& ns) {
  return time_of_span(event, field, ns);
}

void Rows::complete() {
  auto& ops = rows_.host_ops;
  fill(ops.thread, &HostGroup::thread);
  fill(ops.forward_thread, &HostGroup::forward_thread);
  fill(ops.module_id, &HostGroup::module_id);
  fill(ops.shapes, &HostGroup::shapes);
  fill(ops.types, &HostGroup::types);
  fill(ops.values, &HostGroup::values);
  fill(ops.strides, &HostGroup::strides);
  fill(ops.module, &HostGroup::module);
  rows_.each_table([](auto& table) { gf::complete(table); });
}

void Rows::add_anew(const Event& event, std::int64_t at) {
  if (event.duplicates)
    chunk_.note(QualityCode::duplicate_key, "a key came twice in one event; the last one counts",
                at);
  const auto ph = event.text(Field::ph);
  if (ph.size() != 1) return chunk_.note(QualityCode::bad_event, "event without a phase", at);
  const Category category =
      event.category_known ? event.category : category_of(event.text(Field::cat));
  switch (ph[0]) {
    case 'X':
      if (category != Category::ignored) add_span(event, category, at);
      return;
    case 'B':
    case 'E':
      return add_border(event, category, at);
    case 's':
    case 'f': {
      if (category != Category::flow) {
        if (event.pattern && event.duplicates == 0) event.pattern->settled.nothing = true;
        return;
      }
      Nanos ns;
      if (!time(event, Field::ts, ns)) return chunk_.note(QualityCode::bad_event, kBadTime, at);
      const auto row = rows_.flows.add();
      rows_.flows.id[row] = integer(event, Field::id, -1, at);
      rows_.flows.time_ns[row] = ns;
      rows_.flows.thread[row] = thread(event);
      rows_.flows.finish[row] = ph[0] == 'f';
      return;
    }
    case 'i':
    case 'I':
      // Kineto of 2021 gives these events no category.
      if ((category == Category::instant || !event.has(Field::cat)) &&
          event.text(Field::name) == "[memory]")
        add_memory(event, at);
      return;
    case 'C':
      if (category == Category::counters) add_counter(event, at);
      return;
    case 'M':
      return add_naming(event);
    default:
      chunk_.note(QualityCode::unknown_phase,
                  "events of a phase that the profiler does not write were left out", at);
  }
}

void Rows::add_span(const Event& event, Category category, std::int64_t at) {
  Nanos start, duration = 0;
  if (!time_of_span(event, Field::ts, start) ||
      (!opens_ && !time_of_span(event, Field::dur, duration)))
    return chunk_.note(QualityCode::bad_event, kBadTime, at);
  if (duration < 0) {
    chunk_.note(QualityCode::negative_duration, "a negative duration was taken as 0", at);
    duration = 0;
  }
  if (duration > kLongestSpan)
    return chunk_.note(QualityCode::implausible_duration,
                       "an event of more than a day was left out", at);
  switch (category) {
    case Category::cpu_op:
      return add_host(event, HostKind::op, start, duration, at);
    case Category::user_annotation:
      return add_host(event, HostKind::annotation, start, duration, at);
    case Category::python_function:
      return add_host(event, HostKind::python, start, duration, at);
    case Category::overhead:
      return add_host(event, HostKind::overhead, start, duration, at);
    case Category::runtime:
      return add_api(event, start, duration, at);
    case Category::kernel:
      return add_activity(event, ActivityKind::kernel, start, duration, at);
    case Category::memcpy:
      return add_activity(event, ActivityKind::memcpy, start, duration, at);
    case Category::memset:
      return add_activity(event, ActivityKind::memset, start, duration, at);
    case Category::gpu_annotation:
      return add_device_annotation(event, start, duration, at);
    case Category::profiled_range:
      return add_profiled_range(event, start, duration, at);
    case Category::sync:
      return add_sync(event, start, duration, at);
    default:
      return add_host(event, HostKind::other, start, duration, at);
  }
}

/// Spans of other writers: one event where it begins and one where it ends, which may not say whose
/// end it is. The span gets its length when all borders of its thread are known.
void Rows::add_border(const Event& event, Category category, std::int64_t at) {
  Border border{thread_number(event), 0, event.text(Field::ph) == "B"};
  if (!time(event, Field::ts, border.at)) return chunk_.note(QualityCode::bad_event, kBadTime, at);
  if (border.begins && category != Category::ignored) {
    const PerTable before = rows_.row_counts();
    opens_ = true;
    add_span(event, category, at);
    opens_ = false;
    rows_.each_table([&](const auto& table) {
      if (border.row != kNoRow || table.size() == of(before, table.kId)) return;
      border.table = table.kId;  // the first one: others say more of its row
      border.row = of(before, table.kId);
    });
  }
  if (auto& thread = worker_.threads[border.track]; !thread.told_track) {
    thread.told_track = true;
    chunk_.tracks.push_back({border.track, thread.key});
  }
  chunk_.borders.push_back(border);
}

void Rows::add_device_annotation(const Event& event, Nanos start, Nanos duration, std::int64_t at) {
  auto& device_annotations = rows_.device_annotations;
  const auto row = device_annotations.add();
  device_annotations.start_ns[row] = start;
  device_annotations.duration_ns[row] = duration;
  device_annotations.device[row] = device(event, at);
  device_annotations.stream[row] = stream(event, at);
  device_annotations.name[row] = text(event, Field::name);
  device_annotations.external_id[row] = integer(event, Field::external_id, -1, at);
}

void Rows::add_sync(const Event& event, Nanos start, Nanos duration, std::int64_t at) {
  auto& syncs = rows_.syncs;
  const auto row = syncs.add();
  syncs.start_ns[row] = start;
  syncs.duration_ns[row] = duration;
  syncs.device[row] = device(event, at);
  if (event.has(Field::stream)) {
    syncs.stream[row] = integer(event, Field::stream, -1, at);
  } else {
    syncs.stream[row] = -1;
  }
  if (event.has(Field::sync_kind)) {
    syncs.kind[row] = text(event, Field::sync_kind);
  } else {
    syncs.kind[row] = text(event, Field::name);
  }
  syncs.correlation[row] = integer(event, Field::correlation, -1, at);
  syncs.wait_on_stream[row] = integer(event, Field::wait_on_stream, -1, at);
  syncs.wait_on_correlation[row] = integer(event, Field::wait_on_correlation, -1, at);
}

/// The counters are the args whose names are metrics ("smsp__inst_executed.sum"). They are as many
/// as somebody asked CUPTI for, so that they are read from the event's text once more.
void Rows::add_profiled_range(const Event& event, Nanos start, Nanos duration, std::int64_t at) {
  add_device_annotation(event, start, duration, at);
  const char* begin = chunk_.buffer.get() + (at - chunk_.offset);
  const char* limit = chunk_.buffer.get() + chunk_.size;
  const char* end = container_end(begin, limit);
  simdjson::dom::parser parser;
  simdjson::dom::object args;
  if (!end || parser.parse(begin, static_cast<std::size_t>(end - begin))["args"].get(args)) return;
  for (const auto [name, value] : args) {
    double number = 0;
    if (name.find("__") == name.npos || value.get(number)) continue;
    add_row(rows_.counter_samples, {start, duration, device(event, at), text(name), number});
  }
}

void Rows::add_host(const Event& event, HostKind kind, Nanos start, Nanos duration,
                    std::int64_t at) {
  auto& host_ops = rows_.host_ops;
  const std::size_t row = host_ops.size();
  host_ops.start_ns.push_back(start);
  host_ops.duration_ns.push_back(duration);
  host_ops.name.push_back(name(event));
  host_ops.kind.push_back(kind);
  Settled& said = settled(event, [&](Settled& out) {
    out.host = {thread(event),
                small(event, Field::forward_thread, at),
                small(event, Field::python_module, at),
                text(event, Field::input_dims),
                text(event, Field::input_type),
                text(event, Field::input_values),
                text(event, Field::input_strides),
                text(event, event.has(Field::module_hierarchy) ? Field::module_hierarchy
                                                               : Field::call_stack)};
  });
  host_group_.push_back(group_of(event, said));
  chunk_.last_host = said.host.thread;
  say(host_ops.external_id, row, event, Field::external_id, at);
  say(host_ops.sequence, row, event, Field::sequence, at);
  say(host_ops.python_id, row, event, Field::python_id, at);
  say(host_ops.python_parent, row, event, Field::python_parent, at);
}

std::uint32_t Rows::new_group(Settled& said) {
  said.of_chunk = worker_.chunks;
  said.group = static_cast<std::uint32_t>(host_groups_.size());
  host_groups_.push_back(said.host);
  return said.group;
}

/// A column that the rows' groups say.
template <class T>
void Rows::fill(Column<T>& column, T HostGroup::* value) {
  if (host_groups_.empty()) return;
  const T first = host_groups_.front().*value;
  if (std::ranges::all_of(host_groups_, [&](const HostGroup& one) { return one.*value == first; }))
    return column.resize(host_group_.size(), first);
  const auto rows = column.extend(host_group_.size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    rows[row] = host_groups_[host_group_[row]].*value;
}

void Rows::add_api(const Event& event, Nanos start, Nanos duration, std::int64_t at) {
  auto& api_calls = rows_.api_calls;
  const std::size_t row = api_calls.size();
  const Text name = this->name(event);
  const auto id = static_cast<std::uint32_t>(name);
  if (id >= worker_.api_kind.size())
    worker_.api_kind.resize(std::max<std::size_t>(id + 1, worker_.api_kind.size() * 2), kUnknown);
  if (worker_.api_kind[id] == kUnknown)
    worker_.api_kind[id] = static_cast<std::uint8_t>(gpu_api_kind(worker_.strings.view(name)));
  const Settled& said = settled(event, [&](Settled& out) {
    out.thread = thread(event);
    out.kernel = text(event, Field::kernel);
  });
  api_calls.start_ns.push_back(start);
  api_calls.duration_ns.push_back(duration);
  api_calls.thread.push_back(said.thread);
  chunk_.last_host = said.thread;
  api_calls.name.push_back(name);
  api_calls.kind.push_back(static_cast<ApiKind>(worker_.api_kind[id]));
  say(api_calls.correlation, row, event, Field::correlation, at);
  say(api_calls.external_id, row, event, Field::external_id, at);
  put(api_calls.kernel, row, said.kernel);
}

/// The direction of a copy by torch's own CUPTI reader, in the words of Kineto's names.
Text Rows::described_copy(const Event& event) {
  auto memory = [](std::string_view kind) {
    std::string text(kind);
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
      text[0] = static_cast<char>(text[0] - 32);
    return text;
  };
  std::string name = "Memcpy ";
  name += event.text(Field::copy_kind);
  if (event.has(Field::copy_source) && event.has(Field::copy_target))
    name += " (" + memory(event.text(Field::copy_source)) + " -> " +
            memory(event.text(Field::copy_target)) + ")";
  return text(name);
}

void Rows::add_activity(const Event& event, ActivityKind kind, Nanos start, Nanos duration,
                        std::int64_t at) {
  auto& activities = rows_.activities;
  const std::size_t row = activities.size();
  Text name = this->name(event);
  if (kind == ActivityKind::memcpy && event.has(Field::copy_kind)) name = described_copy(event);
  const Settled& said = settled(event, [&](Settled& out) {
    out.device = device(event, at);
    out.stream = stream(event, at);
    out.context = integer(event, Field::context, -1, at);
    out.graph = integer(event, Field::graph_id, -1, at);
    out.between = event.has(Field::from_device) && event.has(Field::to_device) &&
                  event.text(Field::from_device) != event.text(Field::to_device);
    if (kind == ActivityKind::kernel) {
      out.grid = extent(event, Field::grid, at);
      out.block = extent(event, Field::block, at);
      out.registers = small(event, Field::registers, at);
      out.shared = integer(event, Field::shared_memory, -1, at);
      out.occupancy = real(event, Field::occupancy, at) / 100;
    } else {
      out.bytes = integer(event, Field::bytes, -1, at);
    }
  });
  if (chunk_.last_host != turn_) {
    turn_ = chunk_.last_host;
    chunk_.turns.push_back({static_cast<std::uint32_t>(row), turn_});
  }
  activities.start_ns.push_back(start);
  activities.duration_ns.push_back(duration);
  activities.device.push_back(said.device);
  activities.stream.push_back(said.stream);
  put(activities.context, row, said.context);
  activities.name.push_back(name);
  activities.kind.push_back(kind);
  say(activities.correlation, row, event, Field::correlation, at);
  say(activities.external_id, row, event, Field::external_id, at);
  if (kind == ActivityKind::memcpy)
    put(activities.copy, row,
        said.between ? CopyKind::peer : copy_direction(worker_.strings.view(name)));
  if (kind == ActivityKind::kernel) {
    put(activities.grid_x, row, said.grid[0]);
    put(activities.grid_y, row, said.grid[1]);
    put(activities.grid_z, row, said.grid[2]);
    put(activities.block_x, row, said.block[0]);
    put(activities.block_y, row, said.block[1]);
    put(activities.block_z, row, said.block[2]);
    put(activities.registers, row, said.registers);
    put(activities.shared_bytes, row, said.shared);
    if (event.has(Field::occupancy)) put(activities.occupancy, row, said.occupancy);
    if (event.has(Field::collective)) add_collective(event, static_cast<std::uint32_t>(row), at);
  } else {
    put(activities.bytes, row, said.bytes);
  }
  put(activities.graph_id, row, said.graph);
  say(activities.graph_node, row, event, Field::graph_node, at);
}

void Rows::add_collective(const Event& event, std::uint32_t activity, std::int64_t at) {
  auto& collectives = rows_.collectives;
  const auto row = collectives.add();
  collectives.activity[row] = activity;
  collectives.name[row] = text(event, Field::collective);
  collectives.dtype[row] = text(event, Field::dtype);
  collectives.in_elements[row] = integer(event, Field::in_elements, -1, at);
  collectives.out_elements[row] = integer(event, Field::out_elements, -1, at);
  collectives.group_size[row] = integer(event, Field::group_size, -1, at);
  if (event.has(Field::group_name)) {
    collectives.group_name[row] = text(event, Field::group_name);
  } else {
    collectives.group_name[row] = text(event, Field::group_description);
  }
  collectives.group_ranks[row] = text(event, Field::group_ranks);
  collectives.sequence[row] = integer(event, Field::collective_sequence, -1, at);
  collectives.from_rank[row] = integer(event, Field::from_rank, -1, at);
  collectives.to_rank[row] = integer(event, Field::to_rank, -1, at);
  collectives.communicator[row] = text(event, Field::communicator);
}

void Rows::add_memory(const Event& event, std::int64_t at) {
  Nanos ns;
  if (!time(event, Field::ts, ns)) return chunk_.note(QualityCode::bad_event, kBadTime, at);
  auto& memory_events = rows_.memory_events;
  const auto row = memory_events.add();
  memory_events.time_ns[row] = ns;
  memory_events.thread[row] = thread(event);
  memory_events.device_type[row] = small(event, Field::device_type, at);
  memory_events.device[row] = small(event, Field::device_id, at);
  memory_events.address[row] = integer(event, Field::address, -1, at);
  memory_events.bytes[row] = integer(event, Field::allocation_bytes, 0, at);
  memory_events.allocated_bytes[row] = integer(event, Field::total_allocated, -1, at);
  memory_events.reserved_bytes[row] = integer(event, Field::total_reserved, -1, at);
}

void Rows::add_counter(const Event& event, std::int64_t at) {
  Nanos ns;
  if (!time(event, Field::ts, ns)) return chunk_.note(QualityCode::bad_event, kBadTime, at);
  auto pid = event.text(Field::pid);  // "GPU N Counters", or the number alone
  if (pid.starts_with("GPU ")) {
    pid.remove_prefix(4);
    pid = pid.substr(0, pid.find(' '));
  }
  const auto number = parse_integer(pid);
  std::uint32_t gpu = kNoRow;
  if (number && *number >= 0 && *number <= INT32_MAX)
    gpu = told_device(static_cast<std::uint32_t>(*number));
  add_row(rows_.counter_samples,
          {ns, 0, gpu, text(event, Field::name), real(event, Field::counter_value, at)});
}

void Rows::add_naming(const Event& event) {
  const bool process = event.text(Field::name) == "process_name";
  if (!process && event.text(Field::name) != "thread_name") return;
  if (!event.has(Field::arg_name)) return;
  // The name of a process may be its command line.
  const std::string_view name = event.text(Field::arg_name);
  const Text given = process ? text(without_secrets(name)) : text(name);
  chunk_.names.push_back(
      {worker_.threads[thread_number(event)].key, process, worker_.strings.view(given)});
}

}  // namespace gf::kineto
