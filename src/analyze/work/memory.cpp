#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/thread_sweep.h"
#include "analyze/traits.h"
#include "analyze/work/bounded.h"
#include "analyze/work/kernel_work.h"
#include "analyze/work/result.h"
#include "analyze/work/sections.h"
#include "core/apportion.h"
#include "model/counter_values.h"
#include "model/formats.h"
#include "model/metrics.h"

namespace gf::work {

// The allocations of the framework's allocator: when each block was taken and given back, by whom,
// and what lay in memory at the peak.

namespace {

/// Bytes that a device has, by its number.
std::optional<std::int64_t> capacity_of(const Capture& capture, std::int64_t device) {
  for (std::size_t row = 0; row < capture.devices.size(); ++row)
    if (capture.devices.id[row] == device && capture.devices.memory_bytes[row] > 0)
      return capture.devices.memory_bytes[row];
  return std::nullopt;
}

enum class Pass : std::uint8_t { none, forward, backward, optimiser };

/// The host's context when a block was allocated or freed.
struct Place {
  Pass pass = Pass::none;
  std::uint32_t op = kNoRow;  // outermost operation of a library
};

struct Block {
  std::int64_t address = -1, bytes = 0;
  Nanos from = 0, to = INT64_MAX;
  Place taken, given_back;
  std::uint32_t row = 0;  // of memory_events, where it was taken
};

/// The places of all events of the table, by row.
std::vector<Place> places_of(const Context& context, const std::vector<std::uint32_t>& rows) {
  const Capture& capture = context.capture;
  const auto& events = capture.memory_events;
  std::vector<Place> places(events.size());
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_thread;
  for (const auto row : rows) by_thread[events.thread[row]].push_back(row);
  const auto& parent = context.attribution.op_parent;
  for (const auto& [thread, of_thread] : by_thread) {
    if (thread == kNoRow) continue;
    ThreadSweep sweep(capture, context.host, context.names, thread);
    for (const auto row : of_thread) {
      const ThreadState state = sweep.at(events.time_ns[row]);
      Place& place = places[row];
      for (auto op = state.op; op != kNoRow; op = op < parent.size() ? parent[op] : kNoRow) {
        const NameWord is = context.names.host(capture.host_ops.name[op]);
        if (place.pass == Pass::none || place.pass == Pass::forward) place.pass = Pass::forward;
        if (is & host_is::aten) place.op = op;
        if (is & host_is::backward) place.pass = Pass::backward;
        if (is & host_is::optimizer_step) place.pass = Pass::optimiser;
      }
      for (auto span = state.named; span != kNoRow && place.pass != Pass::optimiser;
           span = span < parent.size() ? parent[span] : kNoRow)
        if (context.names.host(capture.host_ops.name[span]) & host_is::optimizer_step)
          place.pass = Pass::optimiser;
    }
  }
  return places;
}

MemoryHolderKind kind_of(const Block& block) {
  const bool kept = block.given_back.pass != block.taken.pass || block.to == INT64_MAX;
  switch (block.taken.pass) {
    case Pass::forward:
      return kept ? MemoryHolderKind::activations : MemoryHolderKind::temporary;
    case Pass::backward:
      return kept ? MemoryHolderKind::gradients : MemoryHolderKind::temporary;
    case Pass::optimiser:
      return kept ? MemoryHolderKind::optimiser : MemoryHolderKind::temporary;
    default:
      return MemoryHolderKind::unknown;
  }
}

using Stacks = std::unordered_map<std::uint32_t, std::string_view>;

/// By words of the stack that took a block.
MemoryHolderKind kind_of_stack(std::string_view stack) {
  struct Words {
    std::string_view word;
    MemoryHolderKind kind;
  };
  static constexpr std::array kHolderWords{
      Words{"torch/optim/", MemoryHolderKind::optimiser},
      Words{"torch/autograd/", MemoryHolderKind::gradients},
      Words{"_apply", MemoryHolderKind::parameters},
      Words{"reset_parameters", MemoryHolderKind::parameters},
      Words{"__init__", MemoryHolderKind::parameters},
      Words{"forward", MemoryHolderKind::activations},
  };
  for (const auto& [word, kind] : kHolderWords)
    if (stack.find(word) != std::string_view::npos) return kind;
  return MemoryHolderKind::unknown;
}

/// The events of one device in order of time, replayed.
class Replay {
 public:
  Replay(const Context& context, const KernelWorks& works, std::vector<std::uint32_t> rows,
         const std::vector<Place>& places, const Stacks& stacks)
      : context_(context),
        works_(works),
        rows_(std::move(rows)),
        places_(places),
        stacks_(stacks) {}

  DeviceMemory memory(std::int64_t device) {
    DeviceMemory memory;
    memory.device = device;
    memory.source = stacks_.empty() ? MemorySource::allocator_events : MemorySource::snapshot;
    follow(memory);
    if (!memory.peak_allocated || blocks_.empty()) return memory;
    name_holders(memory);
    find_limit(memory);
    return memory;
  }

 private:
  void follow(DeviceMemory& memory) {
    const auto& events = context_.capture.memory_events;
    std::unordered_map<std::int64_t, std::size_t> live;  // address to position in blocks_
    std::int64_t sum = 0;
    for (const auto row : rows_) {
      const auto bytes = events.bytes[row];
      const Nanos now = events.time_ns[row];
      sum = add_bounded(sum, bytes);
      const auto address = events.address[row];
      if (address < 0) {
        // Until 2021 PyTorch wrote none: which block is given back cannot be told, only the sum.
      } else if (bytes > 0) {
        const auto [held, fresh] = live.try_emplace(address, blocks_.size());
        if (!fresh) {  // its end was not recorded
          Block& earlier = blocks_[std::exchange(held->second, blocks_.size())];
          earlier.to = now;
          sum = add_bounded(sum, -earlier.bytes);
        }
        blocks_.push_back({address, bytes, now, INT64_MAX, places_[row], {}, row});
      } else if (const auto at = live.find(address); at != live.end()) {
        blocks_[at->second].to = now;
        blocks_[at->second].given_back = places_[row];
        live.erase(at);
      }
      const auto allocated = events.allocated_bytes[row] >= 0 ? events.allocated_bytes[row]
                                                              : std::max<std::int64_t>(sum, 0);
      note(now, allocated, events.reserved_bytes[row], memory);
    }
  }

  void note(Nanos now, std::int64_t allocated, std::int64_t reserved, DeviceMemory& memory) {
    const auto& window = context_.window;
    if (window.duration_ns > 0 && window.kind != WindowKind::all &&
        (now < window.start_ns || now >= window.end_ns))
      return;
    memory.over_time.push_back({now - window.start_ns, allocated, {}, {}});
    if (reserved >= 0) {
      memory.over_time.back().reserved = reserved;
      memory.peak_reserved = std::max(memory.peak_reserved.value_or(0), reserved);
    }
    if (memory.peak_allocated && allocated <= *memory.peak_allocated) return;
    memory.peak_allocated = allocated;
    memory.peak_at_ns = now - window.start_ns;
    peak_ = now;
  }

  MemoryHolderKind kind_of_any(const Block& block) const {
    const auto stack = stacks_.find(block.row);
    const auto kind = stack == stacks_.end() ? kind_of(block) : kind_of_stack(stack->second);
    if (kind != MemoryHolderKind::unknown || stacks_.empty()) return kind;
    const Capture& capture = context_.capture;
    const auto thread = capture.memory_events.thread[block.row];
    const bool earlier = thread < capture.threads.size() &&
                         capture.text(capture.threads.name[thread]) == kBeforeHistory;
    return earlier ? MemoryHolderKind::before : kind;
  }

  /// When what grows with the batch is taken and given back, in order of time.
  std::vector<std::pair<Nanos, std::int64_t>> growth() const {
    std::vector<std::pair<Nanos, std::int64_t>> changes;
    for (const auto& block : blocks_) {
      const auto kind = kind_of_any(block);
      if (kind != MemoryHolderKind::activations && kind != MemoryHolderKind::temporary) continue;
      changes.emplace_back(block.from, block.bytes);
      if (block.to != INT64_MAX) changes.emplace_back(block.to, -block.bytes);
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    return changes;
  }

  /// The instant at which a larger batch would run out first: what grows there takes the largest
  /// part of what the rest leaves. At the peak of a small batch that need not be.
  void find_limit(DeviceMemory& memory) const {
    const auto capacity = static_cast<double>(
        capacity_of(context_.capture, memory.device).value_or(*memory.peak_allocated));
    const auto changes = growth();
    std::size_t next = 0;
    std::int64_t growing = 0;
    double most = 0;
    for (const auto& point : memory.over_time) {
      const Nanos now = point.ns + context_.window.start_ns;
      for (; next < changes.size() && changes[next].first <= now; ++next)
        growing = add_bounded(growing, changes[next].second);
      const std::int64_t fixed = std::max<std::int64_t>(0, add_bounded(*point.allocated, -growing));
      const double room = std::max(1.0, capacity - static_cast<double>(fixed));
      const double part = static_cast<double>(growing) / room;
      if (part <= most) continue;
      most = part;
      memory.growing = growing;
      memory.fixed = fixed;
    }
  }

  /// The name of a block: the line that allocated it, the module of the operation that did, or the
  /// operation.
  std::string name_of_block(const Block& block) {
    if (const auto stack = stacks_.find(block.row); stack != stacks_.end())
      return std::string(stack->second.substr(0, stack->second.find(';')));
    if (module_of_op_.empty()) find_modules();
    if (const auto at = module_of_op_.find(block.taken.op); at != module_of_op_.end())
      return context_.attribution.modules[at->second];
    if (block.taken.op == kNoRow) return {};
    return std::string(context_.capture.text(context_.capture.host_ops.name[block.taken.op]));
  }

  void find_modules() {
    const auto& attribution = context_.attribution;
    for (std::size_t activity = 0; activity < attribution.op.size(); ++activity) {
      if (attribution.module[activity] == 0) continue;
      for (auto op = attribution.op[activity]; op != kNoRow; op = attribution.op_parent[op])
        if (!module_of_op_.emplace(op, attribution.module[activity]).second) break;  // nor outward
    }
    module_of_op_.emplace(kNoRow - 1, 0);  // looked for, even when there is none
  }

  void name_holders(DeviceMemory& memory) {
    std::map<MemoryHolderKind, MemoryHolder> by_kind;
    std::map<std::string, MemoryHolder> activations;
    std::int64_t known = 0;
    for (const auto& block : blocks_) {
      if (block.from > peak_ || block.to <= peak_) continue;
      const auto kind = kind_of_any(block);
      MemoryHolder& holder = by_kind[kind];
      holder.bytes = add_bounded(holder.bytes, block.bytes);
      ++holder.blocks;
      known = add_bounded(known, block.bytes);
      if (kind != MemoryHolderKind::activations) continue;
      const std::string name = name_of_block(block);
      MemoryHolder& of_name = activations[name];
      of_name.name = name;
      of_name.kind = kind;
      of_name.bytes = add_bounded(of_name.bytes, block.bytes);
      ++of_name.blocks;
    }
    add_earlier(add_bounded(*memory.peak_allocated, -known), by_kind);
    for (auto& [kind, holder] : by_kind) {
      holder.kind = kind;
      if (holder.bytes != 0) memory.holders.push_back(holder);
    }
    for (auto& [name, holder] : activations) memory.activations.push_back(std::move(holder));
    for (auto* rows : {&memory.holders, &memory.activations})
      std::stable_sort(rows->begin(), rows->end(), [](const auto& left, const auto& right) {
        return left.bytes > right.bytes;
      });
  }

  /// Memory that was taken before the capture began: parameters by the gradients that they got, the
  /// moments of Adam, and what is left.
  void add_earlier(std::int64_t bytes, std::map<MemoryHolderKind, MemoryHolder>& by_kind) const {
    if (bytes <= 0) {
      if (bytes < 0) by_kind[MemoryHolderKind::unknown].bytes += bytes;
      return;
    }
    auto move = [&](MemoryHolderKind kind, double wanted) {
      const auto part = std::min(bytes, whole_bounded(wanted));
      if (part <= 0) return;
      by_kind[kind].bytes += part;
      bytes -= part;
    };
    move(MemoryHolderKind::parameters, works_.program.parameter_bytes);
    const bool adam = std::ranges::any_of(works_.calls, [](const KnownCall& call) {
      return call.of->rule->name == "_fused_adamw" || call.of->rule->name == "_fused_adam";
    });
    if (adam) move(MemoryHolderKind::optimiser, 2 * works_.program.parameter_bytes);
    if (bytes > 0) by_kind[MemoryHolderKind::before].bytes += bytes;
  }

  const Context& context_;
  const KernelWorks& works_;
  std::vector<std::uint32_t> rows_;
  const std::vector<Place>& places_;
  const Stacks& stacks_;
  std::vector<Block> blocks_;
  Nanos peak_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> module_of_op_;
};

/// The stacks of a snapshot's allocations, by row of memory_events.
Stacks stacks_of(const Capture& capture) {
  Stacks stacks;
  if (!says(capture.format, kAllocationStacks)) return stacks;
  const auto& ops = capture.host_ops;
  for (std::size_t op = 0; op < ops.size(); ++op)
    stacks.emplace(static_cast<std::uint32_t>(ops.external_id[op]), capture.text(ops.name[op]));
  return stacks;
}

/// By device; empty without allocator events and without a snapshot's blocks.
std::vector<DeviceMemory> allocator_memory(const Context& context, const KernelWorks& works) {
  const auto& events = context.capture.memory_events;
  std::map<std::int64_t, std::vector<std::uint32_t>> rows_of;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < events.size(); ++row)
    if (events.device_type[row] == 1 && std::abs(events.bytes[row] / 2) < kMostBytes)
      rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [&](auto left, auto right) {
    return events.time_ns[left] < events.time_ns[right];
  });
  for (const auto row : rows) rows_of[events.device[row]].push_back(row);
  const auto places = places_of(context, rows);
  const auto stacks = stacks_of(context.capture);
  std::vector<DeviceMemory> all;
  for (auto& [device, of_device] : rows_of)
    all.push_back(Replay(context, works, std::move(of_device), places, stacks).memory(device));
  return all;
}

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
  return memory.peak_used ? memory.peak_used : memory.peak_allocated;
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
