// Elementwise operations: every input read, the result written, one operation a result element and
// step of the formula.
#include <algorithm>
#include <array>

#include "analyze/work/rules.h"

namespace gf::work {
namespace {

/// Elements of the inputs laid over each other.
double broadcast(const Call& call) {
  std::vector<std::int64_t> dims;
  for (const auto* tensor : call.tensors()) {
    if (tensor->dims.size() > dims.size())
      dims.insert(dims.begin(), tensor->dims.size() - dims.size(), 1);
    const auto shift = dims.size() - tensor->dims.size();
    for (std::size_t i = 0; i < tensor->dims.size(); ++i)
      dims[shift + i] = std::max(dims[shift + i], tensor->dims[i]);
  }
  double product = 1;
  for (const auto dim : dims) product *= static_cast<double>(dim < 0 ? 0 : dim);
  return product;
}

/// The wider of the floating types; of others the first.
Element result_type(const Call& call) {
  Element type = Element::none;
  for (const auto* tensor : call.tensors()) {
    // A number in a tensor of no dimension does not widen the result.
    if (tensor->dims.empty() && type != Element::none) continue;
    if (type == Element::none || bytes_of(tensor->type) > bytes_of(type)) type = tensor->type;
  }
  return type;
}

std::optional<Work> steps(const Call& call, double operations, std::int64_t result_bytes = 0) {
  if (call.tensors().empty()) return std::nullopt;
  Work work;
  work.type = result_type(call);
  const double results = broadcast(call);
  if (result_bytes == 0) result_bytes = bytes_of(work.type);
  work.other_flops = operations * results;
  work.bytes = input_bytes(call) + results * static_cast<double>(result_bytes);
  return work;
}

std::optional<Work> one(const Call& call, const Program&) { return steps(call, 1); }
std::optional<Work> two(const Call& call, const Program&) { return steps(call, 2); }
std::optional<Work> five(const Call& call, const Program&) { return steps(call, 5); }
std::optional<Work> eight(const Call& call, const Program&) { return steps(call, 8); }
std::optional<Work> truth(const Call& call, const Program&) { return steps(call, 1, 1); }

/// Result and mask.
std::optional<Work> dropout(const Call& call, const Program&) {
  const Tensor* input = call.tensor(0);
  if (!input) return std::nullopt;
  Work work;
  work.type = input->type;
  work.other_flops = 2 * input->elements();
  work.bytes = input->bytes() + input->elements() * static_cast<double>(bytes_of(input->type) + 1);
  return work;
}

constexpr auto kElementwise = WorkFamily::elementwise;
constexpr std::array kElementwiseRules{
    Rule{"add", kElementwise, one},
    Rule{"sub", kElementwise, one},
    Rule{"rsub", kElementwise, one},
    Rule{"mul", kElementwise, one},
    Rule{"div", kElementwise, one},
    Rule{"remainder", kElementwise, one},
    Rule{"fmod", kElementwise, one},
    Rule{"pow", kElementwise, one},
    Rule{"neg", kElementwise, one},
    Rule{"abs", kElementwise, one},
    Rule{"exp", kElementwise, one},
    Rule{"log", kElementwise, one},
    Rule{"log1p", kElementwise, one},
    Rule{"sqrt", kElementwise, one},
    Rule{"rsqrt", kElementwise, one},
    Rule{"reciprocal", kElementwise, one},
    Rule{"sin", kElementwise, one},
    Rule{"cos", kElementwise, one},
    Rule{"tanh", kElementwise, one},
    Rule{"erf", kElementwise, one},
    Rule{"relu", kElementwise, one},
    Rule{"clamp", kElementwise, one},
    Rule{"clamp_min", kElementwise, one},
    Rule{"clamp_max", kElementwise, one},
    Rule{"maximum", kElementwise, one},
    Rule{"minimum", kElementwise, one},
    Rule{"where", kElementwise, one},
    Rule{"masked_fill", kElementwise, one},
    Rule{"threshold", kElementwise, one},
    Rule{"threshold_backward", kElementwise, one},
    Rule{"hardtanh", kElementwise, one},
    Rule{"leaky_relu", kElementwise, one},
    Rule{"leaky_relu_backward", kElementwise, one},
    Rule{"bitwise_and", kElementwise, one},
    Rule{"bitwise_or", kElementwise, one},
    Rule{"bitwise_not", kElementwise, one},
    Rule{"tanh_backward", kElementwise, two},
    Rule{"sigmoid_backward", kElementwise, two},
    Rule{"native_dropout_backward", kElementwise, two},
    Rule{"addcmul", kElementwise, two},
    Rule{"addcdiv", kElementwise, two},
    Rule{"lerp", kElementwise, two},
    Rule{"sigmoid", kElementwise, five},
    Rule{"silu", kElementwise, five},
    Rule{"silu_backward", kElementwise, five},
    Rule{"elu", kElementwise, five},
    Rule{"softplus", kElementwise, five},
    Rule{"mse_loss_backward", kElementwise, two},
    Rule{"gelu", kElementwise, eight},
    Rule{"gelu_backward", kElementwise, eight},
    Rule{"eq", kElementwise, truth},
    Rule{"ne", kElementwise, truth},
    Rule{"lt", kElementwise, truth},
    Rule{"le", kElementwise, truth},
    Rule{"gt", kElementwise, truth},
    Rule{"ge", kElementwise, truth},
    Rule{"logical_and", kElementwise, truth},
    Rule{"logical_or", kElementwise, truth},
    Rule{"logical_not", kElementwise, truth},
    Rule{"isnan", kElementwise, truth},
    Rule{"native_dropout", kElementwise, dropout},
};

}  // namespace

std::span<const Rule> elementwise_rules() { return kElementwiseRules; }

}  // namespace gf::work
