#include "report/query/kernel_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyze/traits.h"
#include "model/kernel_name.h"

namespace gf {

namespace {

/// Idle time by the activity that ended it, and the cause of its longest piece.
struct IdleBefore {
  Nanos total = 0, longest = 0;
  IdleReason reason = IdleReason::host_other;
};
std::unordered_map<std::uint32_t, IdleBefore> idle_before(const Context& context) {
  std::unordered_map<std::uint32_t, IdleBefore> found;
  for (const DeviceTimeline& device : context.devices)
    for (const IdlePiece& piece : device.idle_pieces) {
      if (piece.next == kNoRow) continue;
      IdleBefore& idle = found[piece.next];
      const Nanos length = piece.span().length();
      idle.total += length;
      if (length > idle.longest) {
        idle.longest = length;
        idle.reason = piece.reason;
      }
    }
  return found;
}

/// Time that counts for each activity; -1 outside the window.
std::vector<Nanos> counted_times(const Context& context) {
  std::vector<Nanos> times(context.capture.activities.size(), -1);
  for (const DeviceTimeline& device : context.devices)
    for (std::size_t i = 0; i < device.rows.size(); ++i) {
      const auto row = device.rows[i];
      const bool kernel = context.capture.activities.kind[row] == ActivityKind::kernel;
      const auto& span = device.spans[i];
      times[row] = kernel ? device.exclusive_ns[i] : covered(device.copying, span);
    }
  return times;
}

/// Computes the traits of each distinct name once.
class TraitTexts {
 public:
  explicit TraitTexts(const Context& context) : context_(context) {}
  /// ",gather,compiled,": of a kernel's or copy's name, and of the operation at its launch.
  std::string of(std::uint32_t row) {
    const auto& owners = context_.attribution.op;
    const Text kernel = context_.capture.activities.name[row];
    const Text op = row < owners.size() && owners[row] != kNoRow
                        ? context_.capture.host_ops.name[owners[row]]
                        : Text::none;
    auto [known, fresh] = texts_.try_emplace({kernel, op});
    if (fresh) {
      std::set<std::string_view> ids;
      for (const auto id : traits_in(NameKind::kernel, context_.names.kernel(kernel)))
        ids.insert(id);
      if (op != Text::none)
        for (const auto id : traits_in(NameKind::host, context_.names.host(op))) ids.insert(id);
      if (!ids.empty()) known->second = fmt::format(",{},", fmt::join(ids, ","));
    }
    return known->second;
  }

 private:
  const Context& context_;
  std::map<std::pair<Text, Text>, std::string> texts_;
};

/// The operation around another; annotations between them are passed over.
std::uint32_t operation_around(const Context& context, std::uint32_t op) {
  const auto& parents = context.attribution.op_parent;
  do op = op < parents.size() ? parents[op] : kNoRow;
  while (op != kNoRow && context.capture.host_ops.kind[op] != HostKind::op);
  return op;
}

void place_in_step(KernelFacts& facts, const std::vector<StepInfo>& steps, Nanos start) {
  const auto after = std::ranges::upper_bound(steps, start, {},
                                              [](const StepInfo& step) { return step.start_ns; });
  if (after == steps.begin()) return;
  const StepInfo& step = after[-1];
  if (start - step.start_ns >= step.duration_ns) return;
  facts.step = step.index;
  facts.step_offset_ns = start - step.start_ns;
}

}  // namespace

std::vector<KernelFacts> kernel_facts(const Context& context, FactsOf which) {
  const Capture& capture = context.capture;
  const Attribution& owners = context.attribution;
  const auto idle = idle_before(context);
  const auto times = counted_times(context);
  TraitTexts traits(context);
  std::vector<KernelFacts> facts;
  for (std::uint32_t row = 0; row < capture.activities.size(); ++row) {
    if (which == FactsOf::kernels && capture.activities.kind[row] != ActivityKind::kernel) continue;
    KernelFacts& kernel = facts.emplace_back();
    kernel.row = row;
    kernel.short_name = short_kernel_name(capture.text(capture.activities.name[row]));
    place_in_step(kernel, context.window.all_steps, capture.activities.start_ns[row]);
    if (row < owners.op.size() && owners.op[row] != kNoRow) {
      kernel.operation = std::string(capture.text(capture.host_ops.name[owners.op[row]]));
      if (const auto around = operation_around(context, owners.op[row]); around != kNoRow)
        kernel.parent = std::string(capture.text(capture.host_ops.name[around]));
    }
    if (row < owners.module.size() && owners.module[row] != 0)
      kernel.module = owners.modules[owners.module[row]];
    if (row < owners.layer.size()) kernel.layer = name_of(owners.layer[row]);
    if (row < owners.phase.size())
      kernel.phase = std::string(name_of(static_cast<TrainingPhase>(owners.phase[row])));
    if (times[row] >= 0) kernel.exclusive_ns = times[row];
    if (which == FactsOf::all) kernel.traits = traits.of(row);
    if (const auto before = idle.find(row); before != idle.end()) {
      kernel.idle_ns = before->second.total;
      kernel.idle_cause = std::string(name_of(before->second.reason));
    }
  }
  return facts;
}

}  // namespace gf
