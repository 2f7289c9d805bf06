#include "import/kineto/rows.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "import/kineto/numbers.h"
#include "import/kineto/scan.h"

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

Text Rows::text(std::string_view t) {
  const auto known = worker_.strings.size();
  const Text id = worker_.strings.intern(t);
  if (worker_.strings.size() > known) chunk_.texts.push_back(worker_.strings.view(id));
  return id;
}

std::uint32_t Rows::thread(const Event& e) {
  if (last_thread_ != kNoRow && e.text(Field::pid) == last_pid_ && e.text(Field::tid) == last_tid_)
    return last_thread_;
  const auto number = thread_number(e);
  if (auto& thread = worker_.threads[number]; !thread.told) {
    thread.told = true;
    chunk_.threads.push_back({number, thread.key});
  }
  return last_thread_ = number;
}

std::uint32_t Rows::thread_number(const Event& e) {
  const auto pid = e.text(Field::pid), tid = e.text(Field::tid);
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
  // Views into the map's key: the event's own text may live in a reader's buffer.
  last_pid_ = std::string_view(at->first).substr(0, pid.size());
  last_tid_ = std::string_view(at->first).substr(pid.size() + 1);
  last_thread_ = kNoRow;
  return at->second;
}

std::int64_t Rows::integer(const Event& e, Field field, std::int64_t fallback, std::int64_t at) {
  if (!e.has(field)) return fallback;
  if (auto value = parse_integer(e[field].text())) return *value;
  if (e[field].text() == "null") return fallback;
  chunk_.note(QualityCode::bad_value, kBadValue, at);
  return fallback;
}

std::int32_t Rows::small(const Event& e, Field field, std::int64_t at) {
  const std::int64_t value = integer(e, field, -1, at);
  if (value >= INT32_MIN && value <= INT32_MAX) return static_cast<std::int32_t>(value);
  chunk_.note(QualityCode::bad_value, kBadValue, at);
  return -1;
}

double Rows::real(const Event& e, Field field, std::int64_t at) {
  if (!e.has(field)) return NAN;
  if (auto value = parse_real(e[field].text())) return *value;
  if (e[field].text() == "null") return NAN;
  chunk_.note(QualityCode::bad_value, kBadValue, at);
  return NAN;
}

void Rows::extent(const Event& e, Field field, std::int32_t& x, std::int32_t& y, std::int32_t& z,
                  std::int64_t at) {
  if (!e.has(field)) return;
  const auto t = e[field].text();
  const char* p = t.data();
  const char* end = p + t.size();
  std::int32_t out[3];
  for (auto& value : out) {
    while (p < end && (*p == '[' || *p == ',' || static_cast<unsigned char>(*p) <= ' ')) ++p;
    const auto [stop, error] = std::from_chars(p, end, value);
    if (error != std::errc()) return chunk_.note(QualityCode::bad_value, kBadValue, at);
    p = stop;
  }
  x = out[0], y = out[1], z = out[2];
}

std::uint32_t Rows::device(const Event& e, std::int64_t at) {
  return static_cast<std::uint32_t>(e.has(Field::device) ? small(e, Field::device, at)
                                                         : small(e, Field::pid, at));
}

std::int64_t Rows::stream(const Event& e, std::int64_t at) {
  if (e.has(Field::stream)) return integer(e, Field::stream, -1, at);
  auto tid = e.text(Field::tid);
  if (tid.starts_with("stream ")) tid.remove_prefix(7);
  return parse_integer(tid).value_or(-1);
}

bool Rows::time(const Event& e, Field field, Nanos& ns) {
  if (!e.has(field)) return false;
  const auto value = parse_us(e[field].text());
  if (!value || *value > kTimeLimit || *value < -kTimeLimit) return false;
  ns = *value;
  return true;
}

void Rows::add(const Event& e, std::int64_t at) {
  if (e.duplicates)
    chunk_.note(QualityCode::duplicate_key, "a key came twice in one event; the last one counts",
                at);
  const auto ph = e.text(Field::ph);
  if (ph.size() != 1) return chunk_.note(QualityCode::bad_event, "event without a phase", at);
  const Category category = category_of(e.text(Field::cat));
  switch (ph[0]) {
    case 'X':
      if (category != Category::ignored) add_span(e, category, at);
      return;
    case 's':
    case 'f': {
      if (category != Category::flow) return;
      Nanos ns;
      if (!time(e, Field::ts, ns)) return chunk_.note(QualityCode::bad_event, kBadTime, at);
      const auto row = rows_.flows.add();
      rows_.flows.id[row] = integer(e, Field::id, -1, at);
      rows_.flows.time_ns[row] = ns;
      rows_.flows.thread[row] = thread(e);
      rows_.flows.finish[row] = ph[0] == 'f';
      return;
    }
    case 'i':
    case 'I':
      // Kineto of 2021 gives these events no category.
      if ((category == Category::instant || !e.has(Field::cat)) &&
          e.text(Field::name) == "[memory]")
        add_memory(e, at);
      return;
    case 'C':
      if (category == Category::counters) add_counter(e, at);
      return;
    case 'M':
      return add_naming(e);
    default:
      chunk_.note(QualityCode::unknown_phase,
                  "events of a phase that the profiler does not write were left out", at);
  }
}

void Rows::add_span(const Event& e, Category category, std::int64_t at) {
  Nanos start, duration;
  if (!time(e, Field::ts, start) || !time(e, Field::dur, duration))
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
      return add_host(e, HostKind::op, start, duration, at);
    case Category::user_annotation:
      return add_host(e, HostKind::annotation, start, duration, at);
    case Category::python_function:
      return add_host(e, HostKind::python, start, duration, at);
    case Category::overhead:
      return add_host(e, HostKind::overhead, start, duration, at);
    case Category::runtime:
      return add_api(e, start, duration, at);
    case Category::kernel:
      return add_activity(e, ActivityKind::kernel, start, duration, at);
    case Category::memcpy:
      return add_activity(e, ActivityKind::memcpy, start, duration, at);
    case Category::memset:
      return add_activity(e, ActivityKind::memset, start, duration, at);
    case Category::gpu_annotation:
      return add_device_annotation(e, start, duration, at);
    case Category::profiled_range:
      return add_profiled_range(e, start, duration, at);
    case Category::sync:
      return add_sync(e, start, duration, at);
    default:
      return add_host(e, HostKind::other, start, duration, at);
  }
}

void Rows::add_device_annotation(const Event& e, Nanos start, Nanos duration, std::int64_t at) {
  auto& t = rows_.device_annotations;
  const auto row = t.add();
  t.start_ns[row] = start;
  t.duration_ns[row] = duration;
  t.device[row] = device(e, at);
  t.stream[row] = stream(e, at);
  t.name[row] = text(e, Field::name);
  t.external_id[row] = integer(e, Field::external_id, -1, at);
}

void Rows::add_sync(const Event& e, Nanos start, Nanos duration, std::int64_t at) {
  auto& t = rows_.syncs;
  const auto row = t.add();
  t.start_ns[row] = start;
  t.duration_ns[row] = duration;
  t.device[row] = device(e, at);
  t.stream[row] = e.has(Field::stream) ? integer(e, Field::stream, -1, at) : -1;
  t.kind[row] = e.has(Field::sync_kind) ? text(e, Field::sync_kind) : text(e, Field::name);
  t.correlation[row] = integer(e, Field::correlation, -1, at);
  t.wait_on_stream[row] = integer(e, Field::wait_on_stream, -1, at);
  t.wait_on_correlation[row] = integer(e, Field::wait_on_correlation, -1, at);
}

/// The counters are the args whose names are metrics ("smsp__inst_executed.sum"). They are as many
/// as somebody asked CUPTI for, so that they are read from the event's text once more.
void Rows::add_profiled_range(const Event& e, Nanos start, Nanos duration, std::int64_t at) {
  add_device_annotation(e, start, duration, at);
  const char* begin = chunk_.buffer.get() + (at - chunk_.offset);
  const char* limit = chunk_.buffer.get() + chunk_.size;
  const char* end = container_end(begin, limit);
  simdjson::dom::parser parser;
  simdjson::dom::object args;
  if (!end || parser.parse(begin, static_cast<std::size_t>(end - begin))["args"].get(args)) return;
  for (const auto [name, value] : args) {
    double number = 0;
    if (name.find("__") == name.npos || value.get(number)) continue;
    auto& t = rows_.counter_samples;
    const auto row = t.add();
    t.start_ns[row] = start;
    t.duration_ns[row] = duration;
    t.device[row] = device(e, at);
    t.metric[row] = text(name);
    t.value[row] = number;
  }
}

void Rows::add_host(const Event& e, HostKind kind, Nanos start, Nanos duration, std::int64_t at) {
  auto& t = rows_.host_ops;
  const auto row = t.add();
  t.start_ns[row] = start;
  t.duration_ns[row] = duration;
  t.thread[row] = thread(e);
  t.name[row] = text(e, Field::name);
  t.kind[row] = kind;
  t.external_id[row] = integer(e, Field::external_id, -1, at);
  t.sequence[row] = integer(e, Field::sequence, -1, at);
  t.forward_thread[row] = small(e, Field::forward_thread, at);
  t.python_id[row] = small(e, Field::python_id, at);
  t.python_parent[row] = small(e, Field::python_parent, at);
  t.module_id[row] = small(e, Field::python_module, at);
  t.shapes[row] = text(e, Field::input_dims);
  t.types[row] = text(e, Field::input_type);
  t.module[row] = e.has(Field::module_hierarchy) ? text(e, Field::module_hierarchy)
                                                 : text(e, Field::call_stack);
}

void Rows::add_api(const Event& e, Nanos start, Nanos duration, std::int64_t at) {
  auto& t = rows_.api_calls;
  const auto row = t.add();
  const Text name = text(e, Field::name);
  const auto i = static_cast<std::uint32_t>(name);
  if (i >= worker_.api_kind.size())
    worker_.api_kind.resize(std::max<std::size_t>(i + 1, worker_.api_kind.size() * 2), kUnknown);
  if (worker_.api_kind[i] == kUnknown)
    worker_.api_kind[i] = static_cast<std::uint8_t>(api_kind_of(worker_.strings.view(name)));
  t.start_ns[row] = start;
  t.duration_ns[row] = duration;
  t.thread[row] = thread(e);
  t.name[row] = name;
  t.kind[row] = static_cast<ApiKind>(worker_.api_kind[i]);
  t.correlation[row] = integer(e, Field::correlation, -1, at);
  t.external_id[row] = integer(e, Field::external_id, -1, at);
}

void Rows::add_activity(const Event& e, ActivityKind kind, Nanos start, Nanos duration,
                        std::int64_t at) {
  auto& t = rows_.activities;
  const auto row = t.add();
  t.start_ns[row] = start;
  t.duration_ns[row] = duration;
  t.device[row] = device(e, at);
  t.stream[row] = stream(e, at);
  t.context[row] = integer(e, Field::context, -1, at);
  t.name[row] = text(e, Field::name);
  t.kind[row] = kind;
  t.correlation[row] = integer(e, Field::correlation, -1, at);
  t.external_id[row] = integer(e, Field::external_id, -1, at);
  if (kind == ActivityKind::memcpy) {
    const auto name = worker_.strings.view(t.name[row]);
    t.copy[row] = copy_kind_of(name);
    if (e.has(Field::from_device) && e.has(Field::to_device) &&
        e.text(Field::from_device) != e.text(Field::to_device))
      t.copy[row] = CopyKind::peer;
  }
  if (kind == ActivityKind::kernel) {
    extent(e, Field::grid, t.grid_x[row], t.grid_y[row], t.grid_z[row], at);
    extent(e, Field::block, t.block_x[row], t.block_y[row], t.block_z[row], at);
    t.registers[row] = small(e, Field::registers, at);
    t.shared_bytes[row] = integer(e, Field::shared_memory, -1, at);
    t.occupancy[row] = real(e, Field::occupancy, at) / 100;
    if (e.has(Field::collective)) add_collective(e, row, at);
  } else {
    t.bytes[row] = integer(e, Field::bytes, -1, at);
  }
  t.graph_id[row] = integer(e, Field::graph_id, -1, at);
  t.graph_node[row] = integer(e, Field::graph_node, -1, at);
}

void Rows::add_collective(const Event& e, std::uint32_t activity, std::int64_t at) {
  auto& t = rows_.collectives;
  const auto row = t.add();
  t.activity[row] = activity;
  t.name[row] = text(e, Field::collective);
  t.dtype[row] = text(e, Field::dtype);
  t.in_elements[row] = integer(e, Field::in_elements, -1, at);
  t.out_elements[row] = integer(e, Field::out_elements, -1, at);
  t.group_size[row] = integer(e, Field::group_size, -1, at);
  t.group_name[row] =
      e.has(Field::group_name) ? text(e, Field::group_name) : text(e, Field::group_description);
  t.group_ranks[row] = text(e, Field::group_ranks);
}

void Rows::add_memory(const Event& e, std::int64_t at) {
  Nanos ns;
  if (!time(e, Field::ts, ns)) return chunk_.note(QualityCode::bad_event, kBadTime, at);
  auto& t = rows_.memory_events;
  const auto row = t.add();
  t.time_ns[row] = ns;
  t.thread[row] = thread(e);
  t.device_type[row] = small(e, Field::device_type, at);
  t.device[row] = small(e, Field::device_id, at);
  t.address[row] = integer(e, Field::address, -1, at);
  t.bytes[row] = integer(e, Field::allocation_bytes, 0, at);
  t.allocated_bytes[row] = integer(e, Field::total_allocated, -1, at);
  t.reserved_bytes[row] = integer(e, Field::total_reserved, -1, at);
}

void Rows::add_counter(const Event& e, std::int64_t at) {
  Nanos ns;
  if (!time(e, Field::ts, ns)) return chunk_.note(QualityCode::bad_event, kBadTime, at);
  auto pid = e.text(Field::pid);  // "GPU N Counters", or the number alone
  if (pid.starts_with("GPU ")) {
    pid.remove_prefix(4);
    pid = pid.substr(0, pid.find(' '));
  }
  const auto number = parse_integer(pid);
  auto& t = rows_.counter_samples;
  const auto row = t.add();
  t.start_ns[row] = ns;
  t.device[row] =
      number && *number >= 0 && *number <= INT32_MAX ? static_cast<std::uint32_t>(*number) : kNoRow;
  t.metric[row] = text(e, Field::name);
  t.value[row] = real(e, Field::counter_value, at);
}

void Rows::add_naming(const Event& e) {
  const bool process = e.text(Field::name) == "process_name";
  if ((process || e.text(Field::name) == "thread_name") && e.has(Field::arg_name))
    chunk_.names.push_back({worker_.threads[thread_number(e)].key, process,
                            worker_.strings.view(text(e, Field::arg_name))});
}

}  // namespace gf::kineto
