// Converts each record of an agent's file into rows of the capture.
#include <cupti_activity.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

#include "collect/inject/reader.h"
#include "core/time.h"
#include "model/captured_calls.h"
#include "model/kernel_name.h"

namespace gf {

namespace {

using inject::Type;

/// The most kernels or launches of a window: past this a window is not checked.
constexpr std::size_t kMostPartners = 4u << 20;
/// Kernels that wait in a queue while a window opens have no launch in it, launches just before its
/// end no kernel.
constexpr double kAtBorders = 0.01;
constexpr Nanos kClockSlack = kNsPerSecond;
/// Records or bytes that were lost at once: more is damage, and sums of it would overflow.
constexpr std::uint64_t kMostLost = 1'000'000'000'000;

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
  return has("Malloc") || has("Free") ? ApiKind::alloc : ApiKind::other;
}

template <class T>
bool as(std::string_view payload, T& out) {
  if (payload.size() < sizeof(T)) return false;
  std::memcpy(&out, payload.data(), sizeof(T));
  return true;
}

}  // namespace

bool InjectReader::believable(const File& file, Nanos start, Nanos end, const char* what,
                              Capture& capture) {
  std::optional<QualityCode> code;
  std::string why;
  if (start <= 0 || end <= 0) {
    code = QualityCode::no_time;
    why = fmt::format("{} without a time: CUPTI had none for them", what);
  } else if (end < start) {
    code = QualityCode::bad_event;
    why = fmt::format("{} that end before they start", what);
  } else if ((file.since > 0 && end < file.since - kClockSlack) ||
             start > host_now() + kClockSlack) {
    code = QualityCode::outside_window;
    why = fmt::format("{} at times when nothing was recorded", what);
  }
  if (!code) return true;
  capture.note_quality(*code, why);
  ++refused_;
  return false;
}

void InjectReader::take(File& file, Type type, std::string_view payload, Capture& capture) {
  switch (type) {
    case Type::hello:
      return take_hello(file, payload, capture);
    case Type::text:
      return take_text(file, payload, capture);
    case Type::device:
      return take_device(file, payload, capture);
    case Type::kernel:
      return take_kernel(file, payload, capture);
    case Type::memcpy:
    case Type::memset:
      return take_memory(file, type, payload, capture);
    case Type::api:
      return take_call(file, payload, capture);
    case Type::range:
      return take_range(file, payload, capture);
    case Type::message:
      messages_.emplace_back(payload);
      return;
    case Type::dropped:
    case Type::loss:
      return take_loss(file, payload, capture);
    case Type::window:
      return take_window(file, payload, capture);
    case Type::node:
      return take_node(file, payload, capture);
  }
  capture.note_quality(QualityCode::bad_event, "an unknown record in an agent's file");
}

void InjectReader::take_hello(File& file, std::string_view payload, Capture& capture) {
  inject::Hello hello{};
  file.bad = !as(payload, hello) || hello.version != inject::kVersion;
  file.pid = hello.pid;
  file.node_calls.clear();
  file.last_call.clear();  // a process that began anew, by exec, counts its calls anew
  file.repeated.clear();
  if (file.window > 0)
    add_window(file, std::exchange(file.window, 0), file.last, Ending::with_program,
               capture);  // the process began anew, by exec
  if (file.bad)
    capture.note_quality(QualityCode::bad_agent_file,
                         "an agent of another version wrote its file: it is left out");
}

void InjectReader::take_text(File& file, std::string_view payload, Capture& capture) {
  inject::TextHead head{};
  if (!as(payload, head) || head.id > 1u << 20) return;
  if (file.texts.size() <= head.id) file.texts.resize(head.id + 1, Text::none);
  file.texts[head.id] = capture.strings.intern(demangled(std::string(payload.substr(sizeof head))));
}

void InjectReader::take_device(File& file, std::string_view payload, Capture& capture) {
  inject::Device device{};
  if (!as(payload, device)) return;
  const std::string uuid = uuid_text(device.uuid);
  for (std::uint32_t row = 0; row < capture.devices.size(); ++row)
    if (capture.text(capture.devices.uuid[row]) == uuid) {
      file.devices[device.ordinal] = row;
      return;
    }
  const auto gpu = std::ranges::find(gpus_, uuid, &MachineGpu::uuid);
  if (gpu == gpus_.end()) return;
  const auto row = file.devices[device.ordinal] = capture.device_row(gpu->number);
  capture.devices.uuid[row] = capture.strings.intern(gpu->uuid);
  capture.devices.name[row] = capture.strings.intern(gpu->name);
  capture.devices.vendor[row] = capture.strings.intern("nvidia");
}

void InjectReader::take_kernel(File& file, std::string_view payload, Capture& capture) {
  inject::Kernel kernel{};
  if (!as(payload, kernel))
    return capture.note_quality(QualityCode::bad_event, "a kernel record is damaged");
  if (!believable(file, kernel.start, kernel.end, "kernels", capture)) return;
  auto& activities = capture.activities;
  const auto row = activities.add();
  activities.start_ns[row] = kernel.start;
  activities.duration_ns[row] = kernel.end - kernel.start;
  activities.device[row] = device_row(file, kernel.device, capture);
  activities.stream[row] = kernel.stream;
  activities.context[row] = kernel.context;
  activities.name[row] = text(file, kernel.name);
  activities.correlation[row] = number_of(file, kernel.correlation);
  activities.pid[row] = file.pid;
  activities.grid_x[row] = kernel.grid[0];
  activities.grid_y[row] = kernel.grid[1];
  activities.grid_z[row] = kernel.grid[2];
  activities.block_x[row] = kernel.block[0];
  activities.block_y[row] = kernel.block[1];
  activities.block_z[row] = kernel.block[2];
  activities.registers[row] = static_cast<I32>(kernel.registers);
  activities.shared_bytes[row] = kernel.shared_bytes;
  if (kernel.graph) {
    activities.graph_id[row] = kernel.graph;
    activities.graph_node[row] = node_number(file, kernel.graph_node);
    if (kernel.graph_node == 0)
      capture.note_quality(
          QualityCode::graph_kernels_hidden,
          "launches of CUDA graphs were recorded as wholes, without their kernels");
  }
  ++kernels_;
  file.last = std::max(file.last, kernel.end);
  auto& known = file.partners;
  known.last_kernel = std::max(known.last_kernel, kernel.end);
  known.too_many |= known.kernels.size() >= kMostPartners;
  if (!known.too_many) known.kernels.push_back(kernel.correlation);
}

void InjectReader::take_memory(File& file, Type type, std::string_view payload, Capture& capture) {
  inject::Memory memory{};
  if (!as(payload, memory))
    return capture.note_quality(QualityCode::bad_event, "a copy record is damaged");
  const bool copy = type == Type::memcpy;
  if (!believable(file, memory.start, memory.end, copy ? "copies" : "sets", capture)) return;
  auto& activities = capture.activities;
  const auto row = activities.add();
  const auto kind = copy ? copy_kind(memory.copy_kind) : CopyKind::none;
  activities.start_ns[row] = memory.start;
  activities.duration_ns[row] = memory.end - memory.start;
  activities.device[row] = device_row(file, memory.device, capture);
  activities.stream[row] = memory.stream;
  activities.context[row] = memory.context;
  if (copy) {
    activities.kind[row] = ActivityKind::memcpy;
  } else {
    activities.kind[row] = ActivityKind::memset;
  }
  activities.copy[row] = kind;
  activities.name[row] =
      capture.strings.intern(copy ? "memcpy " + std::string(name_of(kind)) : std::string("memset"));
  activities.correlation[row] = number_of(file, memory.correlation);
  activities.pid[row] = file.pid;
  activities.bytes[row] = static_cast<I64>(memory.bytes);
  if (memory.graph) {
    activities.graph_id[row] = memory.graph;
    activities.graph_node[row] = node_number(file, memory.graph_node);
  }
  ++copies_;
  file.last = std::max(file.last, memory.end);
}

I64 InjectReader::number_of(const File& file, std::uint32_t correlation) const {
  if (file.repeated.contains(correlation)) return -1;
  return correlation;
}

void InjectReader::take_call(File& file, std::string_view payload, Capture& capture) {
  inject::Api call{};
  if (!as(payload, call))
    return capture.note_quality(QualityCode::bad_event, "a record of a call is damaged");
  if (!believable(file, call.start, call.end, "calls", capture)) return;
  auto& last = file.last_call[call.thread];
  if (call.correlation != 0 && std::exchange(last, call.correlation) == call.correlation) {
    file.repeated.insert(call.correlation);
    capture.note_quality(QualityCode::repeated_call,
                         "CUPTI lost count of a thread's calls: it was switched off while the "
                         "thread was inside one");
  }
  auto& api_calls = capture.api_calls;
  const auto row = api_calls.add();
  api_calls.start_ns[row] = call.start;
  api_calls.duration_ns[row] = call.end - call.start;
  api_calls.thread[row] = thread_row(file, call.thread, capture);
  api_calls.name[row] = text(file, call.name);
  auto kind = api_kind(capture.text(api_calls.name[row]));
  const bool launches = kind == ApiKind::launch || kind == ApiKind::graph_launch;
  if (launches && call.launch == 0) kind = ApiKind::other;  // it was captured: no kernel follows
  api_calls.kind[row] = kind;
  api_calls.correlation[row] = number_of(file, call.correlation);
  if (!launches || call.launch == 0) return;
  auto& known = file.partners;
  known.too_many |= known.launches.size() >= kMostPartners;
  if (!known.too_many) known.launches.push_back({call.start, call.correlation});
}

void InjectReader::take_range(File& file, std::string_view payload, Capture& capture) {
  inject::Range range{};
  if (!as(payload, range) || range.start <= 0 || range.end < range.start)
    return capture.note_quality(QualityCode::bad_event, "a record of a range is damaged");
  const Text name = text(file, range.name);
  auto& host_ops = capture.host_ops;
  const auto row = host_ops.add();
  host_ops.start_ns[row] = range.start;
  host_ops.duration_ns[row] = range.end - range.start;
  host_ops.thread[row] = thread_row(file, range.thread, capture);
  const NvtxRange said = describe_nvtx_range(capture, name);
  host_ops.name[row] = said.name;
  host_ops.kind[row] = said.kind;
  host_ops.sequence[row] = said.sequence;
  host_ops.shapes[row] = said.shapes;
  if (capture.text(name) != inject::kStepName || range.end == range.start) return;
  const auto step = capture.steps.add();
  capture.steps.index[step] = steps_++;
  capture.steps.start_ns[step] = range.start;
  capture.steps.duration_ns[step] = range.end - range.start;
  capture.steps.name[step] = name;
}

void InjectReader::take_node(File& file, std::string_view payload, Capture& capture) {
  inject::Node node{};
  if (!as(payload, node))
    return capture.note_quality(QualityCode::bad_event, "a record of a graph's node is damaged");
  std::int64_t call = node.correlation;
  if (node.original != 0) {
    const auto original = file.node_calls.find(node.original);
    if (original == file.node_calls.end()) return;
    call = original->second;
  }
  file.node_calls.insert_or_assign(node.node, call);
}

/// The call that made a node, where it was seen, tells more than CUPTI's number.
I64 InjectReader::node_number(const File& file, std::uint64_t node) {
  const auto call = file.node_calls.find(node);
  return call == file.node_calls.end() ? static_cast<I64>(node) : kNodeOfCall + call->second;
}

void InjectReader::take_loss(File& file, std::string_view payload, Capture& capture) {
  if (inject::Dropped dropped{}; payload.size() == sizeof dropped) {
    as(payload, dropped);
    if (dropped.records > kMostLost)
      return capture.note_quality(QualityCode::bad_event, "a record of drops is damaged");
    return capture.note_quality(
        QualityCode::dropped_kernels,
        "CUPTI dropped activity records: the program launched faster than they "
        "could be written",
        static_cast<std::int64_t>(dropped.records));
  }
  inject::Loss loss{};
  if (!as(payload, loss)) return;
  if (loss.count > kMostLost)
    return capture.note_quality(QualityCode::bad_event, "a record of losses is damaged");
  const auto count = static_cast<std::int64_t>(loss.count);
  switch (static_cast<inject::LossKind>(loss.kind)) {
    case inject::LossKind::names:
      return capture.note_quality(
          QualityCode::lost_names,
          "ranges without a name: a program may have 65536 different names of ranges, of 64 kB",
          count);
    case inject::LossKind::kernel_names:
      return capture.note_quality(
          QualityCode::lost_names,
          "kernels or calls without a name: a program may have 983040 different names of 64 kB, "
          "and must have memory for them",
          count);
    case inject::LossKind::memory:
      file.lost_to_memory = std::min<std::int64_t>(file.lost_to_memory + count, kMostLost);
      return;
    case inject::LossKind::disk:
      file.lost_to_disk = std::min<std::int64_t>(file.lost_to_disk + count, kMostLost);
      return;
    case inject::LossKind::bound:
      return capture.note_quality(
          QualityCode::event_cap,
          "a program wrote as much as it may: its later kernels were not recorded", count);
    case inject::LossKind::taken:
      taken_ += count;
      return capture.note_quality(
          QualityCode::kernels_taken,
          "launches whose kernels CUPTI gave to another profiler in the program, "
          "such as torch.profiler",
          count);
    case inject::LossKind::silent:
      file.silent = true;
      return capture.note_quality(QualityCode::no_kernel,
                                  "launches of windows in which CUPTI handed over no kernel: one "
                                  "that runs all the time keeps the others' records back",
                                  count);
    case inject::LossKind::unfinished:
      file.unfinished += count;
      return;
  }
}

void InjectReader::take_window(File& file, std::string_view payload, Capture& capture) {
  inject::Window window{};
  if (!as(payload, window) || window.start <= 0 || window.end < 0)
    return capture.note_quality(QualityCode::bad_event, "a record of a window is damaged");
  if (window.end == 0) {
    file.window = window.start;
  } else {
    file.window = 0;
  }
  if (window.end > 0)
    return add_window(file, window.start, window.end,
                      window.last != 0 ? Ending::with_program : Ending::in_program, capture);
  file.since = window.start;
  file.silent = false;
  file.unfinished = 0;
  file.partners = {};
  if (first_window_ == 0) first_window_ = window.start;
}

/// Tells the kernels and launches of a window that have no partner in it. CUPTI keeps a buffer as
/// long as copies go on being written to it, so that the last kernels may not have come: then the
/// window ends with the last one that has; not so where the program ended with it, since what did
/// not come then never will. The answer is its end.
Nanos InjectReader::compare_partners(File& file, Nanos end, Ending ending, Capture& capture) {
  auto known = std::exchange(file.partners, {});
  if (known.too_many || file.silent) return end;
  const auto many = [](std::ptrdiff_t count, std::size_t all) {
    return static_cast<double>(count) > kAtBorders * static_cast<double>(all) + 10;
  };
  auto& [kernels, launches, last_kernel, too_many] = known;
  std::sort(kernels.begin(), kernels.end());
  std::sort(launches.begin(), launches.end(),
            [](const Launch& left, const Launch& right) { return left.start < right.start; });
  const auto ran = [&](const Launch& launch) {
    return std::binary_search(kernels.begin(), kernels.end(), launch.correlation);
  };
  const auto last_that_ran = std::find_if(launches.rbegin(), launches.rend(), ran);
  const bool ended = ending == Ending::with_program;
  std::ptrdiff_t tail = last_that_ran - launches.rbegin();
  if (!ended) tail -= file.unfinished;
  std::ptrdiff_t alone = std::count_if(last_that_ran, launches.rend(), std::not_fn(ran));
  if (ended || last_that_ran == launches.rend() || !many(tail, launches.size()))
    alone += tail;
  else
    end = std::min(end, last_kernel);
  if (many(alone, launches.size()))
    capture.note_quality(QualityCode::no_kernel, "launches whose kernels were not recorded", alone);
  else if (ended && alone > 0)
    capture.note_quality(QualityCode::few_lost_records,
                         "launches whose kernels had not been handed over when the program ended",
                         alone);
  std::sort(launches.begin(), launches.end(), [](const Launch& left, const Launch& right) {
    return left.correlation < right.correlation;
  });
  const auto launched = [&](std::uint32_t correlation) {
    return std::binary_search(launches.begin(), launches.end(), Launch{0, correlation},
                              [](const Launch& left, const Launch& right) {
                                return left.correlation < right.correlation;
                              });
  };
  alone = std::count_if(kernels.begin(), kernels.end(), std::not_fn(launched));
  if (many(alone, kernels.size()))
    capture.note_quality(QualityCode::no_launch,
                         "kernels whose launch was not recorded: why the GPU idled before "
                         "them is not known",
                         alone);
  return end;
}

}  // namespace gf
