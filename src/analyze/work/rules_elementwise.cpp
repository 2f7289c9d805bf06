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

/// Truth values, integers, numbers with a fraction, complex ones.
int kind_of(Element type) {
  if (type == Element::complex64 || type == Element::complex128) return 3;
  if (type == Element::boolean || type == Element::none) return 0;
  return is_whole(type) ? 1 : 2;
}

/// In place: that of the first tensor. Else the wider of the highest kind; a tensor of no dimension
/// makes the result of its kind, and not wider.
Element result_type(const Call& call) {
  const auto tensors = call.tensors();
  if (is_in_place(call.name) && !tensors.empty()) return tensors[0]->type;
  Element type = Element::none;
  const auto widen = [&](Element other) {
    if (type == Element::none || kind_of(other) > kind_of(type) ||
        (kind_of(other) == kind_of(type) && bytes_of(other) > bytes_of(type)))
      type = other;
  };
  for (const auto* tensor : tensors)
    if (!tensor->dims.empty()) widen(tensor->type);
  const bool numbers_alone = type == Element::none;
  for (const auto* tensor : tensors) {
    if (!tensor->dims.empty()) continue;
    if (numbers_alone || kind_of(tensor->type) > kind_of(type)) widen(tensor->type);
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

// Kernels that torch.compile generates. Their names list the operators they are made of; their
// arguments are the tensors they read and write.

namespace {

/// Operators in a generated kernel's name that compute something for every element.
constexpr std::array<std::string_view, 34> kSteps{"add",       "sub",        "mul",
                                                  "div",       "neg",        "exp",
                                                  "log",       "sqrt",       "rsqrt",
                                                  "pow",       "tanh",       "sigmoid",
                                                  "relu",      "gelu",       "silu",
                                                  "erf",       "where",      "clamp",
                                                  "maximum",   "minimum",    "mean",
                                                  "sum",       "var",        "amax",
                                                  "abs",       "cos",        "sin",
                                                  "dropout",   "softmax",    "norm",
                                                  "threshold", "reciprocal", "sigmoid_backward",
                                                  "lerp"};

/// The number of words in the name between underscores.
double steps_of(std::string_view name) {
  double steps = 0;
  for (const auto word : kSteps)
    for (auto at = name.find(word); at != name.npos; at = name.find(word, at + word.size())) {
      const bool begins = at == 0 || name[at - 1] == '_';
      const auto end = at + word.size();
      if (begins && (end == name.size() || name[end] == '_')) steps += 1;
    }
  return steps;
}

/// Templates: the first operands of a kernel called triton_tem_..._mm_... are those of a product.
std::optional<Product> product_of(const Call& call) {
  if (!call.name.starts_with("triton_tem_")) return std::nullopt;
  if (call.name.find("mm") == call.name.npos) return std::nullopt;
  const auto tensors = call.tensors();
  // An added vector can stand first; the operands are the first pair that fits.
  for (std::size_t i = 0; i + 1 < tensors.size(); ++i) {
    const auto& left = tensors[i]->dims;
    const auto& right = tensors[i + 1]->dims;
    if (left.size() == 2 && right.size() == 2 && left[1] == right[0])
      return Product{1, static_cast<double>(left[0]), static_cast<double>(right[1]),
                     static_cast<double>(left[1])};
    if (left.size() == 3 && right.size() == 3 && left[0] == right[0] && left[2] == right[1])
      return Product{static_cast<double>(left[0]), static_cast<double>(left[1]),
                     static_cast<double>(right[2]), static_cast<double>(left[2])};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Work> fused_work(const Call& call) {
  const auto tensors = call.tensors();
  if (tensors.empty()) return std::nullopt;
  Work work;
  work.type = tensors[0]->type;
  // An argument may be read, written or both: once is least.
  work.bytes = input_bytes(call);
  double widest = 0;
  for (const auto* tensor : tensors) widest = std::max(widest, tensor->elements());
  if (const auto product = product_of(call)) {
    work.products.push_back(*product);
    work.flops = product->flops();
    return work;
  }
  work.other_flops = steps_of(call.name) * widest;
  return work;
}

// Operations that move or make data and compute nothing.

namespace {

/// (target, source): the source read, the target written.
std::optional<Work> copy(const Call& call, const Program&) {
  const Tensor* target = call.tensor(0);
  const Tensor* source = call.tensor(1);
  if (!target || !source) return std::nullopt;
  Work work;
  work.type = target->type;
  work.bytes = source->bytes() + target->elements() * static_cast<double>(bytes_of(target->type));
  return work;
}

std::optional<Work> written(const Call& call, const Program&) {
  const Tensor* target = call.tensor(0);
  if (!target) return std::nullopt;
  Work work;
  work.type = target->type;
  work.bytes = target->bytes();
  return work;
}

/// All inputs read, as much written.
std::optional<Work> joined(const Call& call, const Program&) {
  const auto tensors = call.tensors();
  if (tensors.empty() || tensors[0]->type == Element::none) return std::nullopt;
  Work work;
  work.type = tensors[0]->type;
  work.bytes = 2 * input_bytes(call);
  return work;
}

/// (source, axis, index): as many elements as the index names, each read and written.
std::optional<Work> gathered(const Call& call, const Program&) {
  const Tensor* source = call.tensor(0);
  const Tensor* index = call.tensor(2);
  if (!source || !index) return std::nullopt;
  Work work;
  work.type = source->type;
  work.bytes = index->bytes() + 2 * index->elements() * static_cast<double>(bytes_of(source->type));
  return work;
}

/// (source, axis, index of one dimension): whole slices.
std::optional<Work> selected(const Call& call, const Program&) {
  const Tensor* source = call.tensor(0);
  const Tensor* index = call.tensor(2);
  const auto axis = call.number(1);
  if (!source || !index || !axis || *axis < 0 ||
      *axis >= static_cast<std::int64_t>(source->dims.size()))
    return std::nullopt;
  const auto rows = static_cast<double>(source->dims[static_cast<std::size_t>(*axis)]);
  const double width = rows > 0 ? source->elements() / rows : 0;
  const double bytes = width * static_cast<double>(bytes_of(source->type));
  Work work;
  work.type = source->type;
  work.bytes =
      index->bytes() + std::min(index->elements(), rows) * bytes + index->elements() * bytes;
  return work;
}

constexpr auto kMovement = WorkFamily::data_movement;
constexpr std::array kMovementRules{
    Rule{"copy_", kMovement, copy},       Rule{"fill_", kMovement, written},
    Rule{"zero_", kMovement, written},    Rule{"normal_", kMovement, written},
    Rule{"uniform_", kMovement, written}, Rule{"bernoulli_", kMovement, written},
    Rule{"random_", kMovement, written},  Rule{"cat", kMovement, joined},
    Rule{"flip", kMovement, joined},      Rule{"roll", kMovement, joined},
    Rule{"gather", kMovement, gathered},  Rule{"index_select", kMovement, selected},
};

}  // namespace

std::span<const Rule> movement_rules() { return kMovementRules; }

// Optimizer steps over all parameters. Lists of tensors come without their sizes in most traces;
// the parameters are then those whose gradients were accumulated in a step.

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
