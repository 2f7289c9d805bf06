// Reductions and losses: the input read once, one operation an element. What is written is small
// where it is not known.
#include <algorithm>
#include <array>

#include "analyze/work/rules.h"

namespace gf::work {
namespace {

/// Elements left after reducing the axes of a list; all of them when none is named.
double left_over(const Tensor& input, const std::vector<std::int64_t>& axes) {
  if (axes.empty()) return 1;
  double left = input.elements();
  for (auto axis : axes) {
    if (axis < 0) axis += static_cast<std::int64_t>(input.dims.size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(input.dims.size())) continue;
    const auto size = input.dims[static_cast<std::size_t>(axis)];
    if (size > 0) left /= static_cast<double>(size);
  }
  return left;
}

std::optional<Work> reduced(const Call& call, double operations) {
  const Tensor* input = call.tensor(0);
  if (!input) return std::nullopt;
  auto axes = call.numbers(1);
  if (const auto axis = call.number(1); axes.empty() && axis) axes = {*axis};
  Work work;
  work.type = input->type;
  work.other_flops = operations * input->elements();
  work.bytes =
      input->bytes() + left_over(*input, axes) * static_cast<double>(bytes_of(input->type));
  return work;
}

std::optional<Work> sum(const Call& call, const Program&) { return reduced(call, 1); }
std::optional<Work> squares(const Call& call, const Program&) { return reduced(call, 2); }
std::optional<Work> variance(const Call& call, const Program&) { return reduced(call, 3); }

/// (values, classes, ...): of each row the value of its class alone.
std::optional<Work> picked(const Call& call, const Program&) {
  const Tensor* values = call.tensor(0);
  const Tensor* classes = call.tensor(1);
  if (!values || !classes) return std::nullopt;
  Work work;
  work.type = values->type;
  work.other_flops = classes->elements();
  work.bytes = classes->bytes() + classes->elements() * static_cast<double>(bytes_of(values->type));
  return work;
}

/// (gradient, values, classes, ...): the gradient of all values is written.
std::optional<Work> picked_backward(const Call& call, const Program&) {
  const Tensor* values = call.tensor(1);
  const Tensor* classes = call.tensor(2);
  if (!values || !classes) return std::nullopt;
  Work work;
  work.type = values->type;
  work.other_flops = classes->elements();
  work.bytes = classes->bytes() + values->elements() * static_cast<double>(bytes_of(values->type));
  return work;
}

/// Both inputs read, a number or as many as the inputs have written.
std::optional<Work> compared(const Call& call, const Program&) {
  const Tensor* left = call.tensor(0);
  const Tensor* right = call.tensor(1);
  if (!left || !right) return std::nullopt;
  Work work;
  work.type = left->type;
  work.other_flops = 3 * left->elements();
  work.bytes = left->bytes() + right->bytes();
  return work;
}

constexpr auto kReduction = WorkFamily::reduction;
constexpr std::array kReductionRules{
    Rule{"sum", kReduction, sum},
    Rule{"mean", kReduction, sum},
    Rule{"prod", kReduction, sum},
    Rule{"max", kReduction, sum},
    Rule{"min", kReduction, sum},
    Rule{"amax", kReduction, sum},
    Rule{"amin", kReduction, sum},
    Rule{"argmax", kReduction, sum},
    Rule{"argmin", kReduction, sum},
    Rule{"any", kReduction, sum},
    Rule{"all", kReduction, sum},
    Rule{"logsumexp", kReduction, variance},
    Rule{"norm", kReduction, squares},
    Rule{"linalg_vector_norm", kReduction, squares},
    Rule{"var", kReduction, variance},
    Rule{"std", kReduction, variance},
    Rule{"var_mean", kReduction, variance},
    Rule{"nll_loss_forward", kReduction, picked},
    Rule{"nll_loss2d_forward", kReduction, picked},
    Rule{"nll_loss_backward", kReduction, picked_backward},
    Rule{"nll_loss2d_backward", kReduction, picked_backward},
    Rule{"mse_loss", kReduction, compared},
    Rule{"smooth_l1_loss", kReduction, compared},
    Rule{"binary_cross_entropy", kReduction, compared},
    Rule{"binary_cross_entropy_with_logits", kReduction, compared},
};

}  // namespace

std::span<const Rule> reduction_rules() { return kReductionRules; }

}  // namespace gf::work
