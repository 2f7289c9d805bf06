// Optimizer steps over all parameters. Lists of tensors come without their sizes in most traces;
// the parameters are then those whose gradients were accumulated in a step.
#include <array>

#include "analyze/work/rules.h"

namespace gf::work {
namespace {

/// Elements of the first list of tensors, or of all parameters.
double elements_of(const Call& call, const Program& program) {
  double sum = 0;
  if (!call.inputs.empty() && call.inputs[0].list)
    for (const auto& tensor : call.inputs[0].tensors) sum += tensor.elements();
  return sum > 0 ? sum : program.parameters;
}

/// `moved` numbers of four bytes and `operations` for each parameter.
std::optional<Work> step(const Call& call, const Program& program, double moved,
                         double operations) {
  const double elements = elements_of(call, program);
  if (!(elements > 0)) return std::nullopt;
  Work work;
  work.type = Element::fp32;
  work.other_flops = operations * elements;
  double width = 4;
  if (program.parameters > 0) width = program.parameter_bytes / program.parameters;
  work.bytes = moved * width * elements;
  return work;
}

// Parameter, gradient and two moments read, parameter and moments written.
std::optional<Work> adam(const Call& call, const Program& program) {
  return step(call, program, 7, 14);
}
std::optional<Work> adagrad(const Call& call, const Program& program) {
  return step(call, program, 5, 6);
}
// Without momentum; a buffer for it makes two more.
std::optional<Work> sgd(const Call& call, const Program& program) {
  return step(call, program, 3, 2);
}

constexpr auto kOptimiser = WorkFamily::optimiser;
constexpr std::array kOptimiserRules{
    Rule{"_fused_adam", kOptimiser, adam},
    Rule{"_fused_adamw", kOptimiser, adam},
    Rule{"_fused_adagrad", kOptimiser, adagrad},
    Rule{"_fused_sgd", kOptimiser, sgd},
};

}  // namespace

std::span<const Rule> optimiser_rules() { return kOptimiserRules; }

}  // namespace gf::work
