// Attention written out as matrix products around a softmax.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "analyze/findings/time_by.h"
#include "core/when.h"

namespace gf::trace_rules {
namespace {

enum class Part { batched_product, product, softmax, between };

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// By the innermost operation at the launch.
Part part_of(std::string_view operation) {
  if (contains(operation, "bmm")) return Part::batched_product;
  if (contains(operation, "_softmax") && !contains(operation, "backward") &&
      !contains(operation, "_log_softmax"))
    return Part::softmax;
  if (contains(operation, "aten::mm") || contains(operation, "addmm") ||
      contains(operation, "linear") || contains(operation, "conv"))
    return Part::product;
  return Part::between;
}

/// Finds attention in the order in which kernels were launched.
class EagerAttention {
 public:
  explicit EagerAttention(const Facts& facts) : f_(facts) {
    std::vector<std::size_t> forward;
    for (std::size_t i = 0; i < facts.kernels.size(); ++i)
      if (facts.phase(facts.kernels[i]) != TrainingPhase::backward &&
          !facts.operation(facts.kernels[i]).empty())
        forward.push_back(i);
    const auto& launch = facts.context.attribution.launch;
    auto launched = [&](std::size_t index) {
      const auto call = launch[facts.kernels[index].activity];
      return call == kNoRow ? facts.capture().activities.start_ns[facts.kernels[index].activity]
                            : facts.capture().api_calls.start_ns[call];
    };
    std::ranges::stable_sort(forward, {}, launched);
    std::vector<Part> parts;
    for (const auto item : forward) parts.push_back(part_of(facts.operation(facts.kernels[item])));
    for (std::size_t at = 0; at < parts.size(); ++at)
      if (parts[at] == Part::softmax) take_around(forward, parts, at);
  }

  std::int64_t count() const { return count_; }
  bool holds(const KernelInstance& kernel_instance) const {
    const auto& attribution = f_.context.attribution;
    auto of_attention = [&](std::uint32_t op) { return operations_.contains(op); };
    if (f_.phase(kernel_instance) == TrainingPhase::backward)
      return any_outward(attribution.forward_op[kernel_instance.activity], of_attention);
    // With the copies that a product makes of its operands first.
    return kernels_.contains(kernel_instance.activity) ||
           any_outward(attribution.op[kernel_instance.activity], of_attention);
  }

 private:
  /// Scores are scaled, masked and dropped out on the way: no more than this many kernels.
  static constexpr std::size_t kMostBetween = 10;

  /// Calls `use` with an operation of a library and those around it until it says true.
  template <class Use>
  bool any_outward(std::uint32_t op, Use&& use) const {
    const auto& ops = f_.capture().host_ops;
    for (; op != kNoRow && ops.kind[op] == HostKind::op &&
           f_.capture().text(ops.name[op]).starts_with("aten::");
         op = f_.context.attribution.op_parent[op])
      if (use(op)) return true;
    return false;
  }

  void take_around(const std::vector<std::size_t>& order, const std::vector<Part>& parts,
                   std::size_t softmax) {
    std::size_t first = softmax, last = softmax;
    while (first > 0 && softmax - first < kMostBetween && parts[first - 1] == Part::between)
      --first;
    while (last + 1 < parts.size() && last - softmax < kMostBetween &&
           parts[last + 1] == Part::between)
      ++last;
    if (first == 0 || parts[first - 1] != Part::batched_product || last + 1 == parts.size() ||
        parts[last + 1] != Part::batched_product)
      return;
    ++count_;
    for (std::size_t at = first - 1; at <= last + 1; ++at) {
      const auto activity = f_.kernels[order[at]].activity;
      kernels_.insert(activity);
      any_outward(f_.context.attribution.op[activity], [&](std::uint32_t op) {
        operations_.insert(op);
        return false;
      });
    }
  }

  const Facts& f_;
  std::int64_t count_ = 0;
  std::unordered_set<std::uint32_t> kernels_, operations_;
};

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
    if (facts.operation(kernel).empty()) {
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
      fmt::format("{} of kernel time is attention out of single operations, which writes its "
                  "scores to memory and reads them back several times. Use one fused kernel{}.",
                  say_share(facts.of_kernels(time)),
                  when(facts.pytorch(), " (torch.nn.functional.scaled_dot_product_attention)")),
      fmt::format("{} of product, softmax, product; {} with what lies between and the backward "
                  "pass; most under {}",
                  say_count(attention.count(), "sequence"), say_time(time),
                  say_names(operators.largest())),
      time};
}

}  // namespace gf::trace_rules
