// Attention written out as matrix products around a softmax.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analyze/findings/eager_attention.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "core/text.h"

namespace gf {
namespace {

/// Scores are scaled, masked and dropped out on the way: no more than this many kernels.
constexpr std::size_t kMostBetween = 10;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

/// By the innermost operation at the launch.
EagerAttention::Part EagerAttention::part_of(std::string_view operation) {
  if (contains(operation, "bmm")) return Part::batched_product;
  if (contains(operation, "_softmax") && !contains(operation, "backward") &&
      !contains(operation, "_log_softmax"))
    return Part::softmax;
  if (contains(operation, "aten::mm") || contains(operation, "addmm") ||
      contains(operation, "linear") || contains(operation, "conv"))
    return Part::product;
  return Part::between;
}

EagerAttention::EagerAttention(const TraceFacts& facts)
    : facts_(facts),
      of_aten_(facts.texts(), [](std::string_view name) { return name.starts_with("aten::"); }) {
  std::vector<std::size_t> forward;
  for (std::size_t i = 0; i < facts.kernels.size(); ++i)
    if (facts.phase(facts.kernels[i]) != TrainingPhase::backward &&
        facts.operation(facts.kernels[i]) != Text::none)
      forward.push_back(i);
  // Most programs have none: then no order is needed.
  OncePerText part(facts.texts(), part_of);
  const auto is = [&](Part wanted) {
    return std::ranges::any_of(
        forward, [&](std::size_t i) { return part(facts.operation(facts.kernels[i])) == wanted; });
  };
  if (!is(Part::softmax) || !is(Part::batched_product)) return;
  const auto& launch = facts.context.launches;
  auto launched = [&](std::size_t i) {
    const auto call = launch[facts.kernels[i].activity];
    return call == kNoRow ? facts.capture().activities.start_ns[facts.kernels[i].activity]
                          : facts.capture().api_calls.start_ns[call];
  };
  std::ranges::stable_sort(forward, {}, launched);
  std::vector<Part> parts;
  for (const auto i : forward) parts.push_back(part(facts.operation(facts.kernels[i])));
  for (std::size_t at = 0; at < parts.size(); ++at)
    if (parts[at] == Part::softmax) take_around(forward, parts, at);
}

/// Calls `use` with an operation of a library and those around it until it says true.
template <class Use>
bool EagerAttention::any_outward(std::uint32_t op, Use&& use) const {
  const auto& ops = facts_.capture().host_ops;
  for (; op != kNoRow && ops.kind[op] == HostKind::op && of_aten_(ops.name[op]);
       op = facts_.context.attribution.op_parent[op])
    if (use(op)) return true;
  return false;
}

bool EagerAttention::holds(const KernelInstance& kernel) const {
  const auto& attribution = facts_.context.attribution;
  auto of_attention = [&](std::uint32_t op) { return operations_.contains(op); };
  if (facts_.phase(kernel) == TrainingPhase::backward)
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
    const auto activity = facts_.kernels[order[at]].activity;
    kernels_.insert(activity);
    // A whole layer in one operation holds projections, too.
    any_outward(facts_.context.attribution.op[activity], [&](std::uint32_t op) {
      const auto name = facts_.capture().text(facts_.capture().host_ops.name[op]);
      if (contains(name, "multi_head_attention") || contains(name, "transformer")) return true;
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

std::optional<Finding> eager_attention(const Facts& facts) {
  const EagerAttention attention(facts);
  if (attention.count() == 0) return {};
  Nanos time = 0;
  TimeBy operators(facts);
  std::unordered_map<std::uint32_t, NamedKernels> by_name;
  for (const auto& kernel : facts.kernels) {
    auto& named =
        by_name[static_cast<std::uint32_t>(facts.capture().activities.name[kernel.activity])];
    if (facts.operation(kernel) == Text::none) {
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
  return Finding{
      FindingId::eager_attention,
      fmt::format("{} of kernel time is unfused attention, which writes its scores to memory and "
                  "reads them back several times. Use one fused kernel{}.",
                  say_share(facts.of_kernels(time)),
                  when(facts.pytorch(), " (torch.nn.functional.scaled_dot_product_attention)")),
      fmt::format("{} of product, softmax, product; {} with the kernels between them and the "
                  "backward pass; most under {}",
                  plural(attention.count(), "sequence"), say_time(time),
                  say_names(operators.largest())),
      time};
}

}  // namespace gf::trace_rules
