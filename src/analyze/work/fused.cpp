// Kernels that torch.compile generates. Their names list the operators they are made of; their
// arguments are the tensors they read and write.
#include <algorithm>
#include <array>

#include "analyze/work/rules.h"

namespace gf::work {
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

/// How many of the words stand in the name between underscores.
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

}  // namespace gf::work
