// What each record of an agent's file becomes in the capture.
#include <cupti_activity.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "collect/inject/reader.h"
#include "collect/nvml/nvml.h"
#include "model/kernel_name.h"
#include "model/nvtx_operation.h"

namespace gf {

namespace {

using inject::Type;

/// Of a window's kernels or launches: past this a window is not checked.
constexpr std::size_t kMostCorrelations = 4u << 20;
/// Kernels that wait in a queue while a window opens have no launch in it, launches just before its
/// end no kernel.
constexpr double kAtBorders = 0.01;
constexpr Nanos kClockSlack = kNsPerSecond;

CopyKind copy_kind(std::uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return CopyKind::host_to_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return CopyKind::device_to_host;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return CopyKind::device_to_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return CopyKind::host_to_host;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return CopyKind::peer;
    default:
      return CopyKind::unknown;
  }
}

ApiKind api_kind(std::string_view name) {
  auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (has("GraphLaunch")) return ApiKind::graph_launch;
  if (has("Launch")) return ApiKind::launch;
  if (has("Memcpy")) return ApiKind::memcpy;
  if (has("Memset")) return ApiKind::memset;
  if (has("Synchronize")) return ApiKind::sync;
  if (has("Malloc") || has("Free")) return ApiKind::alloc;
  return ApiKind::other;
}

template <class T>
bool as(std::string_view payload, T& out) {
  if (payload.size() < sizeof(T)) return false;
  std::memcpy(&out, payload.data(), sizeof(T));
  return true;
}

}  // namespace

bool InjectReader::believable(const File& f, Nanos start, Nanos end, const char* what, Capture& c) {
  std::optional<QualityCode> code;
  std::string why;
  if (start <= 0 || end <= 0) {
    code = QualityCode::no_time;
    why = fmt::format("{} without a time: CUPTI had none for them", what);
  } else if (end < start) {
    code = QualityCode::bad_event;
    why = fmt::format("{} that end before they start", what);
  } else if ((f.since > 0 && end < f.since - kClockSlack) || start > host_now() + kClockSlack) {
    code = QualityCode::outside_window;
    why = fmt::format("{} at times when nothing was recorded", what);
  }
  if (!code) return true;
  c.note_quality(*code, why);
  ++refused_;
  return false;
}

void InjectReader::take(File& f, Type type, std::string_view payload, Capture& c) {
  switch (type) {
    case Type::hello:
      return take_hello(f, payload, c);
    case Type::text:
      return take_text(f, payload, c);
    case Type::device:
      return take_device(f, payload, c);
    case Type::kernel:
      return take_kernel(f, payload, c);
    case Type::memcpy:
    case Type::memset:
      return take_memory(f, type, payload, c);
    case Type::api:
      return take_call(f, payload, c);
    case Type::range:
      return take_range(f, payload, c);
    case Type::message:
      messages_.emplace_back(payload);
      return;
    case Type::dropped:
    case Type::loss:
      return take_loss(payload, c);
    case Type::window:
      return take_window(f, payload, c);
  }
  c.note_quality(QualityCode::bad_event, "an unknown record in an agent's file");
}

void InjectReader::take_hello(File& f, std::string_view payload, Capture& c) {
  inject::Hello hello{};
  f.bad = !as(payload, hello) || hello.version != inject::kVersion;
  f.pid = hello.pid;
  if (f.window > 0)
    add_window(f, std::exchange(f.window, 0), f.last, c);  // the process began anew, by exec
  if (f.bad)
    c.note_quality(QualityCode::bad_agent_file,
                   "an agent of another version wrote its file: it is left out");
}

void InjectReader::take_text(File& f, std::string_view payload, Capture& c) {
  inject::TextHead head{};
  if (!as(payload, head) || head.id > 1u << 20) return;
  if (f.texts.size() <= head.id) f.texts.resize(head.id + 1, Text::none);
  f.texts[head.id] = c.strings.intern(demangled(std::string(payload.substr(sizeof head))));
}

void InjectReader::take_device(File& f, std::string_view payload, Capture& c) {
  inject::Device device{};
  if (!as(payload, device)) return;
  const std::string uuid = uuid_text(device.uuid);
  for (std::uint32_t row = 0; row < c.devices.size(); ++row)
    if (c.text(c.devices.uuid[row]) == uuid) f.devices[device.ordinal] = row;
}

void InjectReader::take_kernel(File& f, std::string_view payload, Capture& c) {
  inject::Kernel kernel{};
  if (!as(payload, kernel))
    return c.note_quality(QualityCode::bad_event, "a kernel record is damaged");
  if (!believable(f, kernel.start, kernel.end, "kernels", c)) return;
  auto& a = c.activities;
  const auto row = a.add();
  a.start_ns[row] = kernel.start;
  a.duration_ns[row] = kernel.end - kernel.start;
  a.device[row] = device_row(f, kernel.device, c);
  a.stream[row] = kernel.stream;
  a.context[row] = kernel.context;
  a.name[row] = text(f, kernel.name);
  a.correlation[row] = kernel.correlation;
  a.pid[row] = f.pid;
  a.grid_x[row] = kernel.grid[0];
  a.grid_y[row] = kernel.grid[1];
  a.grid_z[row] = kernel.grid[2];
  a.block_x[row] = kernel.block[0];
  a.block_y[row] = kernel.block[1];
  a.block_z[row] = kernel.block[2];
  a.registers[row] = static_cast<I32>(kernel.registers);
  a.shared_bytes[row] = kernel.shared_bytes;
  if (kernel.graph) {
    a.graph_id[row] = kernel.graph;
    a.graph_node[row] = static_cast<I64>(kernel.graph_node);
  }
  ++kernels_;
  f.last = std::max(f.last, kernel.end);
  auto& known = f.correlations;
  known.too_many |= known.kernels.size() >= kMostCorrelations;
  if (!known.too_many) known.kernels.push_back(kernel.correlation);
}

void InjectReader::take_memory(File& f, Type type, std::string_view payload, Capture& c) {
  inject::Memory memory{};
  if (!as(payload, memory))
    return c.note_quality(QualityCode::bad_event, "a copy record is damaged");
  const bool copy = type == Type::memcpy;
  if (!believable(f, memory.start, memory.end, copy ? "copies" : "sets", c)) return;
  auto& a = c.activities;
  const auto row = a.add();
  const auto kind = copy ? copy_kind(memory.copy_kind) : CopyKind::none;
  a.start_ns[row] = memory.start;
  a.duration_ns[row] = memory.end - memory.start;
  a.device[row] = device_row(f, memory.device, c);
  a.stream[row] = memory.stream;
  a.context[row] = memory.context;
  a.kind[row] = copy ? ActivityKind::memcpy : ActivityKind::memset;
  a.copy[row] = kind;
  a.name[row] =
      c.strings.intern(copy ? "memcpy " + std::string(name_of(kind)) : std::string("memset"));
  a.correlation[row] = memory.correlation;
  a.pid[row] = f.pid;
  a.bytes[row] = static_cast<I64>(memory.bytes);
  if (memory.graph) {
    a.graph_id[row] = memory.graph;
    a.graph_node[row] = static_cast<I64>(memory.graph_node);
  }
  ++copies_;
  f.last = std::max(f.last, memory.end);
}

void InjectReader::take_call(File& f, std::string_view payload, Capture& c) {
  inject::Api call{};
  if (!as(payload, call))
    return c.note_quality(QualityCode::bad_event, "a record of a call is damaged");
  if (!believable(f, call.start, call.end, "calls", c)) return;
  auto& a = c.api_calls;
  const auto row = a.add();
  a.start_ns[row] = call.start;
  a.duration_ns[row] = call.end - call.start;
  a.thread[row] = thread_row(f, call.thread, c);
  a.name[row] = text(f, call.name);
  a.kind[row] = api_kind(c.text(a.name[row]));
  a.correlation[row] = call.correlation;
  const bool launch = a.kind[row] == ApiKind::launch || a.kind[row] == ApiKind::graph_launch;
  auto& known = f.correlations;
  known.too_many |= known.launches.size() >= kMostCorrelations;
  if (launch && !known.too_many) known.launches.push_back(call.correlation);
}

void InjectReader::take_range(File& f, std::string_view payload, Capture& c) {
  inject::Range range{};
  if (!as(payload, range) || range.start <= 0 || range.end < range.start)
    return c.note_quality(QualityCode::bad_event, "a record of a range is damaged");
  const Text name = text(f, range.name);
  auto& h = c.host_ops;
  const auto row = h.add();
  h.start_ns[row] = range.start;
  h.duration_ns[row] = range.end - range.start;
  h.thread[row] = thread_row(f, range.thread, c);
  name_nvtx_range(c, row, name);
  if (c.text(name) != inject::kStepName || range.end == range.start) return;
  const auto step = c.steps.add();
  c.steps.index[step] = steps_++;
  c.steps.start_ns[step] = range.start;
  c.steps.duration_ns[step] = range.end - range.start;
  c.steps.name[step] = name;
}

void InjectReader::take_loss(std::string_view payload, Capture& c) {
  if (inject::Dropped dropped{}; payload.size() == sizeof dropped) {
    as(payload, dropped);
    return c.note_quality(QualityCode::dropped_kernels,
                          "CUPTI dropped activity records: the program launched faster than they "
                          "could be written",
                          static_cast<std::int64_t>(dropped.records));
  }
  inject::Loss loss{};
  if (!as(payload, loss)) return;
  const auto count = static_cast<std::int64_t>(loss.count);
  switch (static_cast<inject::LossKind>(loss.kind)) {
    case inject::LossKind::names:
      return c.note_quality(
          QualityCode::lost_names,
          "ranges without a name: a program may have 65536 different names of 64 kB", count);
    case inject::LossKind::memory:
      return c.note_quality(QualityCode::lost_records,
                            "bytes of records that found no memory in the program", count);
    case inject::LossKind::taken:
      taken_ += count;
      return c.note_quality(QualityCode::kernels_taken,
                            "launches whose kernels CUPTI gave to another profiler in the program, "
                            "such as torch.profiler",
                            count);
  }
}

void InjectReader::take_window(File& f, std::string_view payload, Capture& c) {
  inject::Window window{};
  if (!as(payload, window)) return;
  f.window = window.end == 0 ? window.start : 0;
  if (window.end > 0) return add_window(f, window.start, window.end, c);
  f.since = window.start;
  if (first_window_ == 0) first_window_ = window.start;
}

/// Kernels and launches of a window that have no partner in it.
void InjectReader::compare_correlations(File& f, Capture& c) {
  auto known = std::exchange(f.correlations, {});
  if (known.too_many || known.kernels.empty()) return;
  std::sort(known.kernels.begin(), known.kernels.end());
  std::sort(known.launches.begin(), known.launches.end());
  auto without = [](const std::vector<std::uint32_t>& these, const std::vector<std::uint32_t>& of) {
    return std::count_if(these.begin(), these.end(), [&](std::uint32_t correlation) {
      return !std::binary_search(of.begin(), of.end(), correlation);
    });
  };
  auto many = [](std::int64_t count, std::size_t all) {
    return static_cast<double>(count) > kAtBorders * static_cast<double>(all) + 10;
  };
  if (const auto alone = without(known.kernels, known.launches); many(alone, known.kernels.size()))
    c.note_quality(QualityCode::no_launch,
                   "kernels whose launch was not recorded: why the GPU idled before "
                   "them is not known",
                   alone);
  if (const auto alone = without(known.launches, known.kernels); many(alone, known.launches.size()))
    c.note_quality(QualityCode::no_kernel, "launches whose kernels were not recorded", alone);
}

}  // namespace gf
