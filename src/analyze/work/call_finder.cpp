#include "analyze/work/call_finder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace gf::work {

CallFinder::CallFinder(const Context& context, KernelWorks& works)
    : capture_(context.capture),
      works_(works),
      around_(1),
      place_of_op_(context.attribution),
      role_of_name_(context.capture.strings, role_of) {}

/// PyTorch records where the Python class of a tensor takes the call of an operator over.
CallFinder::Role CallFinder::role_of(std::string_view name) {
  const bool python = name == "PythonSubclass";
  return {python ? nullptr : rule_of(name), python};
}

std::uint32_t CallFinder::place_of(std::uint32_t op) {
  return place_of_op_.of(
      op, [&](std::uint32_t outer, std::uint32_t inner) { return step(outer, inner); });
}

std::uint32_t CallFinder::call_at(std::uint32_t place) {
  settle();
  if (place == kNoRow || around_[place].counted == 0) return kNoCall;
  Around& counted = around_[around_[place].counted];
  if (counted.call == kNoCall) {
    counted.call = static_cast<std::uint32_t>(works_.calls.size());
    KnownCall& call = works_.calls.emplace_back();
    call.host_op = counted.op;
    call.of = counted.work;
  }
  return counted.call;
}

std::uint32_t CallFinder::step(std::uint32_t outer, std::uint32_t op) {
  if (outer == kNoRow) outer = 0;
  if (capture_.host_ops.kind[op] != HostKind::op) return outer;
  const Role role = role_of_name_(capture_.host_ops.name[op]);
  if (!role.rule && !role.python) return outer;
  const auto place = static_cast<std::uint32_t>(around_.size());
  around_.push_back({.op = op,
                     .outer = outer,
                     .rule = role.rule,
                     .python = around_[outer].python + (role.python ? 1 : 0)});
  if (role.rule) mark_those_that_hand_on_to(place);
  return place;
}

void CallFinder::mark_those_that_hand_on_to(std::uint32_t place) {
  constexpr int kDeepest = 32;  // no program nests more operators that have rules
  int depth = 0;
  for (auto outer = around_[place].outer; outer != 0 && depth < kDeepest;
       outer = around_[outer].outer, ++depth)
    if (around_[outer].rule && !around_[outer].hands_on)
      around_[outer].hands_on = hands_on(outer, place);
}

/// Under Python what can stand for the outer one; else the same operator or a product with another
/// count of operations. One with the same count is how the outer one is done: PyTorch calls most
/// operators again with a number as a tensor, or with the result as an argument.
bool CallFinder::hands_on(std::uint32_t outer, std::uint32_t inner) {
  const Rule *around = around_[outer].rule, *inside = around_[inner].rule;
  const bool product = multiplying_family(inside->family),
             stands_for_it = around_[outer].python != around_[inner].python &&
                             (product || !multiplying_family(around->family));
  if (!stands_for_it && !product && around != inside) return false;
  const CallWork *asked = work_at(outer), *done = work_at(inner);
  if (!asked || !done) return false;
  const auto differ = [](double left, double right) {
    constexpr double kRounding = 1e-9;
    return std::abs(left - right) > kRounding * std::max(left, right);
  };
  return stands_for_it || differ(asked->work.flops, done->work.flops) ||
         (around == inside && differ(asked->work.other_flops, done->work.other_flops));
}

const CallWork* CallFinder::work_at(std::uint32_t place) {
  Around& at = around_[place];
  if (!std::exchange(at.asked, true)) at.work = work_of(at.op, *at.rule);
  return at.work;
}

/// The work of one call for all that have the same inputs; nullptr when it is not known.
const CallWork* CallFinder::work_of(std::uint32_t op, const Rule& rule) {
  const auto [known, first] = known_.try_emplace(call_texts(capture_, op), nullptr);
  if (!first) return known->second;
  auto call = call_of(capture_, op);
  if (!call) return nullptr;
  // By its sizes alone, a sparse product would do the work of a dense one.
  if (std::ranges::any_of(call->tensors(), &Tensor::sparse)) return nullptr;
  auto work = rule.work(*call, works_.program);
  if (!work) return nullptr;
  works_.shared.push_back({&rule, std::move(*call), std::move(*work)});
  return known->second = &works_.shared.back();
}

void CallFinder::settle() {
  for (; settled_ < around_.size(); ++settled_) {
    const auto place = static_cast<std::uint32_t>(settled_);
    Around& at = around_[place];
    at.counted = around_[at.outer].counted;
    if (at.counted == 0 && at.rule && !at.hands_on && work_at(place)) at.counted = place;
  }
}

}  // namespace gf::work
