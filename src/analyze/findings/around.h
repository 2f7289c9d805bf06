// Questions about the operations around a launch.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "analyze/attribution/attribution.h"
#include "analyze/findings/facts.h"

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
      if (outer == kNoRow) return kNone;
      return outer;
    });
    return row == kNone ? kNoRow : row;
  }
  std::uint32_t of(const KernelInstance& kernel) { return of_activity(kernel.activity); }
  std::uint32_t of_activity(std::uint32_t activity) {
    if (activity >= facts_.context.attribution.op.size()) return kNoRow;
    return of_op(facts_.context.attribution.op[activity]);
  }
  /// Of idle time: what the host was in, or what the device waited for.
  std::uint32_t of(const IdlePiece& piece) {
    const auto row = of_op(piece.op);
    if (row != kNoRow || piece.next == kNoRow) return row;
    return of_activity(piece.next);
  }

 private:
  const TraceFacts& facts_;
  Wanted wanted_;  // of a row of host_ops
  Inherited found_;
};

/// By name.
class AroundNamed : public Around<std::function<bool(std::uint32_t)>> {
 public:
  AroundNamed(const TraceFacts& facts, bool (*wanted)(std::string_view))
      : Around(facts,
               [names = OncePerText(facts.texts(), wanted), &rows = facts.capture().host_ops.name](
                   std::uint32_t row) mutable { return names(rows[row]); }) {}
};

}  // namespace gf
