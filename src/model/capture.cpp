#include "model/capture.h"

#include <string>
#include <vector>

namespace gf {

void Capture::note_quality(std::string_view code, std::string_view detail, std::int64_t n) {
  const Text id = strings.intern(code);
  for (std::size_t i = 0; i < quality.size(); ++i)
    if (quality.code[i] == id) {
      quality.count[i] += n;
      return;
    }
  const auto row = quality.add();
  quality.code[row] = id;
  quality.count[row] = n;
  quality.detail[row] = strings.intern(detail);
}

void Capture::set_metadata(std::string_view key, std::string_view value) {
  const Text id = strings.intern(key), text = strings.intern(value);
  for (std::size_t i = 0; i < metadata.size(); ++i)
    if (metadata.key[i] == id) {
      metadata.value[i] = text;
      return;
    }
  const auto row = metadata.add();
  metadata.key[row] = id;
  metadata.value[row] = text;
}

std::string_view Capture::metadata_value(std::string_view key) const {
  for (std::size_t i = 0; i < metadata.size(); ++i)
    if (text(metadata.key[i]) == key) return text(metadata.value[i]);
  return {};
}

std::uint32_t Capture::device_row(std::int32_t id) {
  for (std::uint32_t i = 0; i < devices.size(); ++i)
    if (devices.id[i] == id) return i;
  const auto row = devices.add();
  devices.id[row] = id;
  return row;
}

void Capture::join(const Capture& other) {
  std::vector<Text> renamed(other.strings.size());
  for (std::uint32_t i = 0; i < renamed.size(); ++i)
    renamed[i] = strings.intern(other.strings.view(Text{i}));
  // Devices are the same ones when their numbers are; threads when pid and tid are. All other
  // tables are appended, with texts renamed and row numbers shifted.
  std::vector<std::uint32_t> device(other.devices.size()), thread(other.threads.size());
  for (std::size_t i = 0; i < device.size(); ++i) {
    const auto before = devices.size();
    device[i] = device_row(other.devices.id[i]);
    if (devices.size() == before) continue;
    const auto row = device[i];
    devices.name[row] = renamed[static_cast<std::uint32_t>(other.devices.name[i])];
    devices.uuid[row] = renamed[static_cast<std::uint32_t>(other.devices.uuid[i])];
    devices.vendor[row] = renamed[static_cast<std::uint32_t>(other.devices.vendor[i])];
    devices.compute_major[row] = other.devices.compute_major[i];
    devices.compute_minor[row] = other.devices.compute_minor[i];
    devices.sm_count[row] = other.devices.sm_count[i];
    devices.memory_bytes[row] = other.devices.memory_bytes[i];
    devices.max_threads_per_sm[row] = other.devices.max_threads_per_sm[i];
    devices.registers_per_sm[row] = other.devices.registers_per_sm[i];
    devices.shared_bytes_per_sm[row] = other.devices.shared_bytes_per_sm[i];
    devices.clock_khz[row] = other.devices.clock_khz[i];
  }
  for (std::size_t i = 0; i < thread.size(); ++i) {
    thread[i] = kNoRow;
    for (std::uint32_t j = 0; j < threads.size() && thread[i] == kNoRow; ++j)
      if (threads.pid[j] == other.threads.pid[i] && threads.tid[j] == other.threads.tid[i])
        thread[i] = j;
    if (thread[i] != kNoRow) continue;
    thread[i] = threads.add();
    threads.pid[thread[i]] = other.threads.pid[i];
    threads.tid[thread[i]] = other.threads.tid[i];
    threads.process_name[thread[i]] =
        renamed[static_cast<std::uint32_t>(other.threads.process_name[i])];
    threads.name[thread[i]] = renamed[static_cast<std::uint32_t>(other.threads.name[i])];
  }
  const auto activity0 = static_cast<std::uint32_t>(activities.size());
  const auto kernel0 = static_cast<std::uint32_t>(report_kernels.size());
  auto mapped = [](const std::vector<std::uint32_t>& map, std::uint32_t row) {
    return row < map.size() ? map[row] : kNoRow;
  };
  auto take = [&](auto& mine, const auto& theirs) {
    const auto first = mine.size();
    mine.append(theirs);
    mine.each_column([&](const ColumnInfo& info, auto& column) {
      using T = typename std::remove_reference_t<decltype(column)>::value_type;
      for (std::size_t i = first; i < column.size(); ++i) {
        if constexpr (std::is_same_v<T, Text>) {
          column[i] = renamed[static_cast<std::uint32_t>(column[i])];
        } else if constexpr (std::is_same_v<T, U32>) {
          const std::string_view name = info.name;
          if (name == "device") column[i] = mapped(device, column[i]);
          if (name == "thread") column[i] = mapped(thread, column[i]);
          if (name == "activity" && column[i] != kNoRow) column[i] += activity0;
          if (name == "kernel" && column[i] != kNoRow) column[i] += kernel0;
        }
      }
    });
  };
  take(host_ops, other.host_ops);
  take(api_calls, other.api_calls);
  take(collectives, other.collectives);
  take(activities, other.activities);
  take(device_annotations, other.device_annotations);
  take(syncs, other.syncs);
  take(flows, other.flows);
  take(handoffs, other.handoffs);
  take(memory_events, other.memory_events);
  take(counter_samples, other.counter_samples);
  for (PackedBlock block : other.sample_blocks) {
    block.device = mapped(device, block.device);
    for (auto& metric : block.metrics) metric = renamed[static_cast<std::uint32_t>(metric)];
    sample_blocks.push_back(std::move(block));
  }
  take(kernel_counters, other.kernel_counters);
  take(report_kernels, other.report_kernels);
  take(steps, other.steps);
  take(recording_windows, other.recording_windows);
  for (std::size_t i = 0; i < other.metadata.size(); ++i)
    if (metadata_value(other.text(other.metadata.key[i])).empty())
      set_metadata(other.text(other.metadata.key[i]), other.text(other.metadata.value[i]));
  for (std::size_t i = 0; i < other.quality.size(); ++i)
    note_quality(other.text(other.quality.code[i]), other.text(other.quality.detail[i]),
                 other.quality.count[i]);
}

}  // namespace gf
