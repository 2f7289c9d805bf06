// Attention written out as matrix products around a softmax.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analyze/findings/eager_attention.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/framework_terms.h"
#include "analyze/findings/rules.h"
#include "analyze/traits.h"
#include "core/text.h"

namespace gf {
namespace {

/// Scores are scaled, masked and dropped out on the way: no more than this many kernels.
constexpr std::size_t kMostBetween = 10;

}  // namespace

/// By the innermost operation at the launch.
EagerAttention::Part EagerAttention::part_of(NameWord operation) {
  if (operation & host_is::batched_product) return Part::batched_product;
  switch (layer_in(operation)) {
    case LayerType::softmax:
      return Part::softmax;
    case LayerType::matmul:
    case LayerType::convolution:
      return Part::product;
    default:
      return Part::between;
  }
}

Text EagerAttention::operation(const KernelInstance& kernel) const {
  return operation_of(context_, kernel.activity);
}

bool EagerAttention::in_backward(const KernelInstance& kernel) const {
  return static_cast<TrainingPhase>(context_.attribution.phase[kernel.activity]) ==
         TrainingPhase::backward;
}

EagerAttention::EagerAttention(const Context& context) : context_(context) {
  const auto& kernels = context.kernels;
  std::vector<std::size_t> forward;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (!in_backward(kernels[i]) && operation(kernels[i]) != Text::none) forward.push_back(i);
  // Most programs have none: then no order is needed.
  const auto part = [&](Text name) { return part_of(context.names.host(name)); };
  const auto is = [&](Part wanted) {
    return std::ranges::any_of(
        forward, [&](std::size_t i) { return part(operation(kernels[i])) == wanted; });
  };
  if (!is(Part::softmax) || !is(Part::batched_product)) return;
  auto launched = [&](std::size_t i) {
    const auto call = context.launches[kernels[i].activity];
    return call == kNoRow ? context.capture.activities.start_ns[kernels[i].activity]
                          : context.capture.api_calls.start_ns[call];
  };
  std::ranges::stable_sort(forward, {}, launched);
  std::vector<Part> parts;
  for (const auto i : forward) parts.push_back(part(operation(kernels[i])));
  for (std::size_t at = 0; at < parts.size(); ++at)
    if (parts[at] == Part::softmax) take_around(forward, parts, at);
}

/// Calls `use` with an operation of a library and those around it until it says true.
template <class Use>
bool EagerAttention::any_outward(std::uint32_t op, Use&& use) const {
  const auto& ops = context_.capture.host_ops;
  for (; op != kNoRow && ops.kind[op] == HostKind::op &&
         context_.names.host(ops.name[op]) & host_is::aten;
       op = context_.attribution.op_parent[op])
    if (use(op)) return true;
  return false;
}

bool EagerAttention::holds(const KernelInstance& kernel) const {
  const auto& attribution = context_.attribution;
  auto of_attention = [&](std::uint32_t op) { return operations_.contains(op); };
  if (in_backward(kernel))
    return any_outward(attribution.forward_op[kernel.activity], of_attention);
  // With the copies that a product makes of its operands first.
  return kernels_.contains(kernel.activity) ||
         any_outward(attribution.op[kernel.activity], of_attention);
}

void EagerAttention::take_around(const std::vector<std::size_t>& order,
                                 const std::vector<Part>& parts, std::size_t softmax) {
  std::size_t first = softmax, last = softmax;
  while (first > 0 && softmax - first < kMostBetween && parts[first - 1] == Part::between) --first;
  while (last + 1 < parts.size() && last - softmax < kMostBetween &&
         parts[last + 1] == Part::between)
    ++last;
  if (first == 0 || parts[first - 1] != Part::batched_product || last + 1 == parts.size() ||
      parts[last + 1] != Part::batched_product)
    return;
  ++count_;
  for (std::size_t at = first - 1; at <= last + 1; ++at) {
    const auto activity = context_.kernels[order[at]].activity;
    kernels_.insert(activity);
    // A whole layer in one operation holds projections, too.
    any_outward(context_.attribution.op[activity], [&](std::uint32_t op) {
      if (context_.names.host(context_.capture.host_ops.name[op]) & host_is::whole_layer)
        return true;
      operations_.insert(op);
      return false;
    });
  }
}

}  // namespace gf

namespace gf::trace_rules {
namespace {

/// Time of the kernels of one name. Those launched before the capture began have no operation: of
/// them the same share is taken as of those with one.
struct NamedKernels {
  Nanos known = 0, inside = 0, unknown = 0;
  Nanos share_of_unknown() const {
    if (known == 0) return 0;
    return static_cast<Nanos>(static_cast<double>(unknown) * static_cast<double>(inside) /
                              static_cast<double>(known));
  }
};

}  // namespace

std::optional<Said> eager_attention(const Facts& facts) {
  const EagerAttention attention(facts.context);
  if (attention.count() == 0) return {};
  Nanos time = 0;
  TimeBy operators(facts);
  std::unordered_map<std::uint32_t, NamedKernels> by_name;
  for (std::size_t at = 0; at < facts.kernels.size(); ++at) {
    const auto& kernel = facts.kernels[at];
    const auto& group = facts.group_at(at);
    auto& named = by_name[static_cast<std::uint32_t>(group.name)];
    if (group.operation == Text::none) {
      named.unknown += kernel.exclusive_ns;
      continue;
    }
    named.known += kernel.exclusive_ns;
    if (!attention.holds(kernel)) continue;
    named.inside += kernel.exclusive_ns;
    time += kernel.exclusive_ns;
    operators.add_operator(kernel, kernel.exclusive_ns);
  }
  for (const auto& [name, named] : by_name) time += named.share_of_unknown();
  if (facts.of_kernels(time) < 0.05) return {};
  return Said{
      fmt::format("{} of kernel time is unfused attention, which writes its scores to memory and "
                  "reads them back several times. Use one fused kernel{}.",
                  say_share(facts.of_kernels(time)),
                  terms_of_framework(facts.capture().framework).attention),
      fmt::format("{} of product, softmax, product; {} with the kernels between them and the "
                  "backward pass; most under {}",
                  plural(attention.count(), "sequence"), say_time(time), say_names(operators)),
      time};
}

}  // namespace gf::trace_rules
