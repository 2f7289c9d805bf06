#include "analyze/work/memory.h"

#include <algorithm>
#include <map>

#include "analyze/work/allocations.h"
#include "analyze/work/bounded.h"
#include "core/apportion.h"
#include "model/counter_values.h"
#include "model/metric_id.h"

namespace gf::work {
namespace {

constexpr std::size_t kPoints = 400;

/// At most kPoints of them; of each stretch the one with most.
std::vector<MemoryPoint> thinned(std::vector<MemoryPoint> points) {
  if (points.size() <= kPoints) return points;
  std::vector<MemoryPoint> kept;
  for (std::size_t stretch = 0; stretch < kPoints; ++stretch) {
    const auto first =
        points.begin() + static_cast<std::ptrdiff_t>(points.size() * stretch / kPoints);
    const auto last =
        points.begin() + static_cast<std::ptrdiff_t>(points.size() * (stretch + 1) / kPoints);
    auto size = [](const MemoryPoint& point) {
      return point.allocated.value_or(point.used.value_or(0));
    };
    kept.push_back(*std::max_element(first, last, [&](const auto& left, const auto& right) {
      return size(left) < size(right);
    }));
  }
  return kept;
}

void raise(std::optional<std::int64_t>& most, std::int64_t value) {
  if (!most || value > *most) most = value;
}

/// What the capture knows of a device by its number.
std::optional<std::int64_t> capacity_of(const Capture& capture, std::int64_t device) {
  for (std::size_t row = 0; row < capture.devices.size(); ++row)
    if (capture.devices.id[row] == device && capture.devices.memory_bytes[row] > 0)
      return capture.devices.memory_bytes[row];
  return std::nullopt;
}

/// Readings of the board: memory.used and memory.total of NVML.
void add_board(const Context& context, std::map<std::int64_t, DeviceMemory>& by_device) {
  const Capture& capture = context.capture;
  CounterFilter filter;
  const auto used = capture.strings.find("memory.used"_metric),
             total = capture.strings.find("memory.total"_metric);
  if (used == Text::none) return;
  filter.metrics = {used};
  if (total != Text::none) filter.metrics.push_back(total);
  each_counter_value(
      capture, kAllTime, filter,
      [&](std::uint32_t row, Text metric, Nanos start, Nanos, double value) {
        if (row >= capture.devices.size() || !(value >= 0)) return;
        auto& memory = by_device[capture.devices.id[row]];
        const auto bytes = whole_bounded(value);
        if (metric == total) {
          memory.capacity = bytes;
          return;
        }
        if (memory.source == MemorySource::none) memory.source = MemorySource::board;
        raise(memory.peak_used, bytes);
        if (memory.source == MemorySource::board)
          memory.over_time.push_back({start - context.window.start_ns, {}, {}, bytes});
      });
}

/// Everything but activations stays as it is when the batch grows.
void judge_batch(const Throughput& throughput, DeviceMemory& memory) {
  if (!memory.capacity) return;
  const auto peak = memory.peak_reserved ? memory.peak_reserved
                    : memory.peak_used   ? memory.peak_used
                                         : memory.peak_allocated;
  if (!peak) return;
  memory.headroom = add_bounded(*memory.capacity, -*peak);
  std::int64_t growing = 0;
  for (const auto& holder : memory.holders)
    if (holder.kind == MemoryHolderKind::activations || holder.kind == MemoryHolderKind::temporary)
      growing = add_bounded(growing, holder.bytes);
  if (!throughput.items || growing <= 0 || *memory.headroom <= 0) return;
  const double each = static_cast<double>(growing) / static_cast<double>(*throughput.items);
  memory.fitting_batch =
      add_bounded(*throughput.items, whole_bounded(static_cast<double>(*memory.headroom) / each));
}

}  // namespace

std::vector<DeviceMemory> memory_use(const Context& context, const KernelWorks& works,
                                     const Throughput& throughput) {
  std::map<std::int64_t, DeviceMemory> by_device;
  for (auto& memory : allocator_memory(context, works))
    by_device.emplace(memory.device, std::move(memory));
  add_board(context, by_device);
  std::vector<DeviceMemory> all;
  for (auto& [device, memory] : by_device) {
    memory.device = device;
    if (!memory.capacity) memory.capacity = capacity_of(context.capture, device);
    memory.over_time = thinned(std::move(memory.over_time));
    judge_batch(throughput, memory);
    if (memory.source != MemorySource::none) all.push_back(std::move(memory));
  }
  return all;
}

}  // namespace gf::work
