#include "import/trace_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "import/gpu_api.h"
#include "import/said_columns.h"
#include "model/check.h"
#include "model/kernel_name.h"

namespace gf {

void add_nvtx_range(Capture& capture, Interval span, std::uint32_t thread, Text text) {
  auto& ops = capture.host_ops;
  const std::size_t row = ops.size();
  const NvtxRange said = describe_nvtx_range(capture, text);
  ops.start_ns.push_back(span.start);
  ops.duration_ns.push_back(span.length());
  ops.thread.push_back(thread);
  ops.name.push_back(said.name);
  ops.kind.push_back(said.kind);
  put(ops.sequence, row, said.sequence);
  put(ops.shapes, row, said.shapes);
}

namespace {

I32 small(std::int64_t value) {
  return static_cast<I32>(std::clamp<std::int64_t>(value, -1, INT32_MAX));
}

}  // namespace

bool TraceRows::is_span(Nanos start, Nanos end) {
  ++c_.events;
  if (end >= start && in_reach(start) && in_reach(end)) return true;
  c_.note_quality(QualityCode::bad_event, "rows without a possible time span");
  return false;
}

std::uint32_t TraceRows::device(std::int64_t number, std::string_view vendor) {
  if (const auto known = devices_.find(number); known != devices_.end()) return known->second;
  if (number < 0 || number > INT32_MAX || devices_.size() >= kMostDevices) return kNoRow;
  const auto row = devices_[number] = c_.device_row(static_cast<std::int32_t>(number));
  if (!vendor.empty()) c_.devices.vendor[row] = c_.strings.intern(vendor);
  return row;
}

void TraceRows::work(const DeviceWork& work) {
  if (work.device == kNoRow) return bad_row();
  if (!is_span(work.start, work.end)) return;
  auto& activities = c_.activities;
  const std::size_t row = activities.size();
  const bool copies = work.kind == ActivityKind::memcpy;
  activities.start_ns.push_back(work.start);
  activities.duration_ns.push_back(work.end - work.start);
  activities.device.push_back(work.device);
  activities.kind.push_back(work.kind);
  activities.name.push_back(copies && work.name == Text{} ? c_.strings.intern(copy_name(work.copy))
                                                          : work.name);
  if (copies) put(activities.copy, row, work.copy);
  put(activities.stream, row, work.stream);
  put(activities.context, row, work.context);
  put(activities.correlation, row, work.correlation);
  put(activities.pid, row, work.pid);
  put(activities.bytes, row, work.bytes);
  put(activities.shared_bytes, row, work.shared_bytes);
  put(activities.graph_node, row, work.graph_node);
  put(activities.external_id, row, work.operation);
  put(activities.registers, row, small(work.registers));
  Column<I32>* const shape[] = {&activities.grid_x,  &activities.grid_y,  &activities.grid_z,
                                &activities.block_x, &activities.block_y, &activities.block_z};
  for (std::size_t i = 0; i < 6; ++i)
    put(*shape[i], row, small(i < 3 ? work.grid[i] : work.block[i - 3]));
}

void TraceRows::call(Nanos start, Nanos end, std::uint32_t thread, std::string_view name,
                     std::int64_t correlation) {
  if (!is_span(start, end)) return;
  auto& calls = c_.api_calls;
  calls.start_ns.push_back(start);
  calls.duration_ns.push_back(end - start);
  calls.thread.push_back(thread);
  calls.name.push_back(c_.strings.intern(name));
  calls.kind.push_back(gpu_api_kind(name));
  calls.correlation.push_back(correlation);
}

void TraceRows::operation(Nanos start, Nanos end, std::uint32_t thread, std::string_view name,
                          std::int64_t id) {
  if (!is_span(start, end)) return;
  auto& ops = c_.host_ops;
  const std::size_t row = ops.size();
  ops.start_ns.push_back(start);
  ops.duration_ns.push_back(end - start);
  ops.thread.push_back(thread);
  ops.name.push_back(c_.strings.intern(name));
  ops.kind.push_back(HostKind::op);
  put(ops.external_id, row, id);
}

void TraceRows::range(Nanos start, Nanos end, std::uint32_t thread, std::string_view name) {
  if (is_span(start, end)) add_nvtx_range(c_, {start, end}, thread, c_.strings.intern(name));
}

std::uint32_t TraceRows::thread(std::int64_t pid, std::int64_t tid) {
  const auto [at, fresh] = threads_.try_emplace({pid, tid}, kNoRow);
  if (fresh) {
    at->second = c_.threads.add();
    c_.threads.pid[at->second] = pid;
    c_.threads.tid[at->second] = tid;
  }
  return at->second;
}

void TraceRows::bad_row() {
  ++c_.events;
  c_.note_quality(QualityCode::bad_row, "rows that cannot be read");
}

void TraceRows::finish() {
  complete(c_.activities);
  complete(c_.api_calls);
  complete(c_.host_ops);
  if (c_.events == 0)
    c_.note_quality(QualityCode::no_events, "the file contains no GPU work and no calls");
}

std::array<std::int64_t, 3> blocks_of(const std::array<std::int64_t, 3>& items,
                                      const std::array<std::int64_t, 3>& block) {
  std::array<std::int64_t, 3> blocks{-1, -1, -1};
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (items[i] > 0 && block[i] > 0)  // the last block may not be full
      blocks[i] = items[i] / block[i] + (items[i] % block[i] != 0);
  return blocks;
}

CopyKind copy_direction(std::string_view said) {
  std::string word;
  for (const char letter : said) {
    if (letter >= 'A' && letter <= 'Z') word += static_cast<char>(letter + 32);
    if (letter >= 'a' && letter <= 'z') word += letter;
    if (letter == '2') word += "to";
  }
  struct Known {
    std::string_view word, short_word;
    CopyKind kind;
  };
  for (const auto& [spelled, brief, kind] :
       {Known{"hosttodevice", "htod", CopyKind::host_to_device},
        Known{"devicetohost", "dtoh", CopyKind::device_to_host},
        Known{"devicetodevice", "dtod", CopyKind::device_to_device},
        Known{"hosttohost", "htoh", CopyKind::host_to_host},
        Known{"peertopeer", "ptop", CopyKind::peer},
        // Of Intel: M is memory that its driver does not know, which is the host's own.
        Known{"memorytodevice", "mtod", CopyKind::host_to_device},
        Known{"devicetomemory", "dtom", CopyKind::device_to_host}})
    if (word.find(spelled) != word.npos || word.find(brief) != word.npos) return kind;
  return CopyKind::unknown;
}

CopyKind cupti_copy_kind(std::int64_t kind) {
  switch (kind) {
    case 1:
    case 3:
    case 11:
      return CopyKind::host_to_device;
    case 2:
    case 4:
    case 12:
      return CopyKind::device_to_host;
    case 5:
    case 6:
    case 7:
    case 8:
    case 13:
      return CopyKind::device_to_device;
    case 9:
      return CopyKind::host_to_host;
    case 10:
      return CopyKind::peer;
    default:
      return CopyKind::unknown;
  }
}

std::string_view copy_name(CopyKind kind) {
  switch (kind) {
    case CopyKind::host_to_device:
      return "Memcpy HtoD";
    case CopyKind::device_to_host:
      return "Memcpy DtoH";
    case CopyKind::device_to_device:
      return "Memcpy DtoD";
    case CopyKind::host_to_host:
      return "Memcpy HtoH";
    case CopyKind::peer:
      return "Memcpy PtoP";
    default:
      return "Memcpy";
  }
}

void note_no_absolute_time(Capture& capture, std::string_view writer) {
  capture.note_quality(
      QualityCode::no_absolute_time,
      fmt::format("{} counts from the start of the machine: a power log cannot be laid beside it",
                  writer));
}

}  // namespace gf
