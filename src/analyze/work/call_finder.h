// Finds the operation by which the work of a launch is counted: the outermost one that has a rule
// and shapes and does not hand its call on.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/attribution/attribution.h"
#include "analyze/work/kernel_work.h"
#include "core/strings.h"

namespace gf::work {

/// Operations inside another are mostly its implementation. Some hand their call on instead: for a
/// tensor of a Python class (DTensor, a quantized weight) and under a transform (vmap) the
/// operation is called anew with what really runs: a shard, other sizes, another type. Then the
/// inner one counts.
class CallFinder {
 public:
  CallFinder(const Context& context, KernelWorks& works);

  /// The place of an operation, for `call_at`.
  std::uint32_t place_of(std::uint32_t op);
  /// The call, of works.calls, that what stands at a place belongs to. Every operation has its
  /// place before the first is asked for its call: whether one hands on shows at any launch inside
  /// it.
  std::uint32_t call_at(std::uint32_t place);

 private:
  /// An operation with a rule, or one where Python took over (no rule).
  struct Around {
    std::uint32_t op = kNoRow;
    std::uint32_t outer = 0;  // place of the next one around it
    const Rule* rule = nullptr;
    const CallWork* work = nullptr;  // nullptr: not known, or not asked for yet
    std::uint32_t python = 0;        // so many of those around it are Python's
    std::uint32_t counted = 0;       // place of the one that counts
    std::uint32_t call = kNoCall;
    bool asked = false;  // for its work
    bool hands_on = false;
  };
  struct Role {
    const Rule* rule;
    bool python;
  };

  static Role role_of(std::string_view name);
  std::uint32_t step(std::uint32_t outer, std::uint32_t op);
  void mark_those_that_hand_on_to(std::uint32_t place);
  bool hands_on(std::uint32_t outer, std::uint32_t inner);
  const CallWork* work_at(std::uint32_t place);
  const CallWork* work_of(std::uint32_t op, const Rule& rule);
  void settle();

  const Capture& capture_;
  KernelWorks& works_;
  std::vector<Around> around_;  // outer ones first; 0: nothing is around
  std::size_t settled_ = 1;
  Inherited place_of_op_;
  OncePerText<Role (*)(std::string_view)> role_of_name_;
  std::unordered_map<CallTexts, const CallWork*, HashOfCallTexts> known_;
};

}  // namespace gf::work
