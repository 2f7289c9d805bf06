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

/// Activations and temporary memory grow with the batch, everything else stays; and the framework
/// goes on holding more than its tensors need by the same factor.
void judge_batch(const Throughput& throughput, DeviceMemory& memory) {
  const auto peak = peak_bytes(memory);
  if (!memory.capacity || !peak) return;
  memory.headroom = add_bounded(*memory.capacity, -*peak);
  if (!throughput.items || !memory.growing || *memory.growing <= 0) return;
  double usable = static_cast<double>(*memory.capacity);
  if (memory.peak_allocated && memory.peak_reserved && *memory.peak_reserved > 0)
    usable *= static_cast<double>(*memory.peak_allocated) /
              static_cast<double>(std::max(*memory.peak_reserved, *memory.peak_allocated));
  const double each = static_cast<double>(*memory.growing) / static_cast<double>(*throughput.items);
  const double items = (usable - static_cast<double>(memory.fixed.value_or(0))) / each;
  if (items >= 1) memory.fitting_batch = whole_bounded(items);
}

}  // namespace

std::optional<std::int64_t> peak_bytes(const DeviceMemory& memory) {
  if (memory.peak_reserved) return memory.peak_reserved;
  if (memory.peak_used) return memory.peak_used;
  return memory.peak_allocated;
}

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
