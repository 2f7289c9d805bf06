// Attention written out as matrix products around a softmax.
#include <fmt/format.h>

#include <unordered_map>

#include "analyze/findings/eager_attention.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "analyze/findings/time_by.h"
#include "core/when.h"

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
  const EagerAttention attention(facts.context);
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
