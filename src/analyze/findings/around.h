// Questions about the operations around a launch.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/attribution/attribution.h"
#include "analyze/findings/facts.h"
#include "analyze/traits.h"

namespace gf {

/// The innermost operation or mark around an operation, or itself, that is wanted: of a row of
/// host_ops. Asked once a row.
template <class Wanted>
class Around {
 public:
  Around(const TraceFacts& facts, Wanted wanted)
      : facts_(facts), wanted_(std::move(wanted)), found_(facts.context.attribution) {}
  /// Row of host_ops, or kNoRow.
  std::uint32_t of_op(std::uint32_t op) {
    constexpr std::uint32_t kNone = kNoRow - 1;
    if (op == kNoRow) return kNoRow;
    const auto row = found_.of(op, [&](std::uint32_t outer, std::uint32_t inner) {
      if (wanted_(inner)) return inner;
      return outer == kNoRow ? kNone : outer;
    });
    return row == kNone ? kNoRow : row;
  }
  std::uint32_t of(const KernelInstance& kernel) { return of_activity(kernel.activity); }
  std::uint32_t of_activity(std::uint32_t activity) {
    if (activity >= facts_.context.attribution.op.size()) return kNoRow;
    return of_op(facts_.context.attribution.op[activity]);
  }
  /// The host's context in a piece of idle time, or what the device waited for.
  std::uint32_t of(const IdlePiece& piece) {
    const auto row = of_op(piece.op);
    return row != kNoRow || piece.next == kNoRow ? row : of_activity(piece.next);
  }

 private:
  const TraceFacts& facts_;
  Wanted wanted_;  // of a row of host_ops
  Inherited found_;
};

/// The word of the name of a row of host_ops; 0 without a row.
inline NameWord word_of_op(const TraceFacts& facts, std::uint32_t row) {
  return row == kNoRow ? 0 : facts.context.names.host(facts.capture().host_ops.name[row]);
}
inline bool any_host_name(const TraceFacts& facts, NameWord traits) {
  for (const Text name : facts.host_names())
    if (facts.context.names.host(name) & traits) return true;
  return false;
}

/// By name. Where no operation has a name that is wanted, as in most traces, none is looked at.
class AroundNamed {
 public:
  AroundNamed(const TraceFacts& facts, NameWord traits) {
    if (any_host_name(facts, traits)) found_.emplace(facts, Named{facts, traits});
  }
  AroundNamed(const TraceFacts& facts, std::string_view name) {
    const Text wanted = facts.texts().find(name);
    if (wanted != Text::none) found_.emplace(facts, Named{facts, 0, wanted});
  }
  std::uint32_t of_op(std::uint32_t op) { return found_ ? found_->of_op(op) : kNoRow; }
  std::uint32_t of_activity(std::uint32_t activity) {
    return found_ ? found_->of_activity(activity) : kNoRow;
  }
  std::uint32_t of(const KernelInstance& kernel) { return of_activity(kernel.activity); }
  std::uint32_t of(const IdlePiece& piece) { return found_ ? found_->of(piece) : kNoRow; }

 private:
  struct Named {
    const TraceFacts& facts;
    NameWord traits;  // one of these
    Text name = Text::none;
    bool operator()(std::uint32_t row) const {
      const Text own = facts.capture().host_ops.name[row];
      return facts.context.names.host(own) & traits || (name != Text::none && own == name);
    }
  };
  std::optional<Around<Named>> found_;
};

/// Idle time of all devices in what is wanted, device by device.
template <class Wanted>
Intervals idle_in(const TraceFacts& facts, Wanted& around) {
  Intervals spans;
  for (const auto& line : facts.context.devices)
    for (const auto& piece : line.idle_pieces)
      if (around.of(piece) != kNoRow) spans.push_back(piece.span());
  return spans;
}

/// Cost of the operations that a cause is about: their kernels, the idle time in them and for
/// them, and the calls in them that hold up the host.
struct OperationsCost {
  std::vector<KernelInstance> kernels;
  std::vector<std::uint32_t> blocking;  // rows of api_calls
  Intervals waits;
  Nanos of_kernels = 0, idle = 0, blocked = 0;

  /// With the launches that come late behind such calls.
  Nanos all(const TraceFacts& facts) const {
    return of_kernels + idle + std::min(facts.late(), std::max<Nanos>(0, blocked));
  }
  /// That much, less what causes before it have claimed; and what the host did in them goes, too.
  Nanos claim(const TraceFacts& facts, Intervals host) const {
    for (const auto& kernel : kernels) facts.claim(kernel);
    facts.also_gone(std::move(host));
    const Nanos free = facts.claim_idle(waits, TraceFacts::Goes::alone);
    return of_kernels + free + (blocking.empty() ? 0 : facts.claim_late(blocking));
  }
};

/// `blocks`: of the kinds of calls.
template <class Wanted, class Blocks>
OperationsCost cost_of(const TraceFacts& facts, Wanted& around, Blocks&& blocks) {
  OperationsCost cost;
  for (const auto& kernel : facts.kernels)
    if (around.of(kernel) != kNoRow) {
      cost.of_kernels += kernel.exclusive_ns;
      cost.kernels.push_back(kernel);
    }
  const auto& calls = facts.capture().api_calls;
  for (std::uint32_t call = 0; call < calls.size(); ++call)
    if (blocks(calls.kind[call]) && around.of_op(facts.tree().op_of_call[call]) != kNoRow) {
      cost.blocked += calls.duration_ns[call];
      cost.blocking.push_back(call);
    }
  cost.waits = normalised(idle_in(facts, around));
  cost.idle = facts.idle_in(cost.waits);
  return cost;
}

}  // namespace gf
