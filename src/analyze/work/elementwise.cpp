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

constexpr auto kFamily = WorkFamily::elementwise;
constexpr std::array kRules{
    Rule{"add", kFamily, one},
    Rule{"sub", kFamily, one},
    Rule{"rsub", kFamily, one},
    Rule{"mul", kFamily, one},
    Rule{"div", kFamily, one},
    Rule{"remainder", kFamily, one},
    Rule{"fmod", kFamily, one},
    Rule{"pow", kFamily, one},
    Rule{"neg", kFamily, one},
    Rule{"abs", kFamily, one},
    Rule{"exp", kFamily, one},
    Rule{"log", kFamily, one},
    Rule{"log1p", kFamily, one},
    Rule{"sqrt", kFamily, one},
    Rule{"rsqrt", kFamily, one},
    Rule{"reciprocal", kFamily, one},
    Rule{"sin", kFamily, one},
    Rule{"cos", kFamily, one},
    Rule{"tanh", kFamily, one},
    Rule{"erf", kFamily, one},
    Rule{"relu", kFamily, one},
    Rule{"clamp", kFamily, one},
    Rule{"clamp_min", kFamily, one},
    Rule{"clamp_max", kFamily, one},
    Rule{"maximum", kFamily, one},
    Rule{"minimum", kFamily, one},
    Rule{"where", kFamily, one},
    Rule{"masked_fill", kFamily, one},
    Rule{"threshold", kFamily, one},
    Rule{"threshold_backward", kFamily, one},
    Rule{"hardtanh", kFamily, one},
    Rule{"leaky_relu", kFamily, one},
    Rule{"leaky_relu_backward", kFamily, one},
    Rule{"bitwise_and", kFamily, one},
    Rule{"bitwise_or", kFamily, one},
    Rule{"bitwise_not", kFamily, one},
    Rule{"tanh_backward", kFamily, two},
    Rule{"sigmoid_backward", kFamily, two},
    Rule{"native_dropout_backward", kFamily, two},
    Rule{"addcmul", kFamily, two},
    Rule{"addcdiv", kFamily, two},
    Rule{"lerp", kFamily, two},
    Rule{"sigmoid", kFamily, five},
    Rule{"silu", kFamily, five},
    Rule{"silu_backward", kFamily, five},
    Rule{"elu", kFamily, five},
    Rule{"softplus", kFamily, five},
    Rule{"mse_loss_backward", kFamily, two},
    Rule{"gelu", kFamily, eight},
    Rule{"gelu_backward", kFamily, eight},
    Rule{"eq", kFamily, truth},
    Rule{"ne", kFamily, truth},
    Rule{"lt", kFamily, truth},
    Rule{"le", kFamily, truth},
    Rule{"gt", kFamily, truth},
    Rule{"ge", kFamily, truth},
    Rule{"logical_and", kFamily, truth},
    Rule{"logical_or", kFamily, truth},
    Rule{"logical_not", kFamily, truth},
    Rule{"isnan", kFamily, truth},
    Rule{"native_dropout", kFamily, dropout},
};

}  // namespace

std::span<const Rule> elementwise_rules() { return kRules; }

}  // namespace gf::work
