// Pooling: every input element read, every result written.
#include <array>
#include <cmath>

#include "analyze/work/rules.h"

namespace gf::work {
namespace {

double at_or(const std::vector<std::int64_t>& list, std::size_t i, double otherwise) {
  if (list.empty()) return otherwise;
  return static_cast<double>(list[i < list.size() ? i : list.size() - 1]);
}

double outer(const Tensor& input, std::size_t axes) {
  double product = 1;
  for (std::size_t i = 0; i + axes < input.dims.size(); ++i)
    product *= static_cast<double>(input.dims[i]);
  return product;
}

/// (input, kernel, stride, padding, ...): results of a window that moves over the last axes.
std::optional<Work> windows(const Call& call, double index_bytes, std::size_t dilation_at) {
  const Tensor* input = call.tensor(0);
  const auto kernel = call.numbers(1);
  if (!input || kernel.empty() || input->dims.size() <= kernel.size()) return std::nullopt;
  auto stride = call.numbers(2);
  if (stride.empty()) stride = kernel;
  double results = outer(*input, kernel.size()), window = 1;
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    const auto size = static_cast<double>(input->dims[input->dims.size() - kernel.size() + axis]);
    const auto side = static_cast<double>(kernel[axis]);
    const double step = at_or(stride, axis, 1);
    const double dilation = dilation_at > 0 ? at_or(call.numbers(dilation_at), axis, 1) : 1;
    const double room = size + 2 * at_or(call.numbers(3), axis, 0) - dilation * (side - 1) - 1;
    if (room < 0 || step <= 0) return std::nullopt;
    results *= std::floor(room / step) + 1;
    window *= side;
  }
  Work work;
  work.type = input->type;
  work.other_flops = results * window;
  work.bytes =
      input->bytes() + results * (static_cast<double>(bytes_of(input->type)) + index_bytes);
  return work;
}

std::optional<Work> largest(const Call& call, const Program&) { return windows(call, 8, 4); }
std::optional<Work> average(const Call& call, const Program&) { return windows(call, 0, 0); }

/// (gradient of the results, input, ...): the gradient of the input is written.
std::optional<Work> backward(const Call& call, const Program&) {
  const Tensor* gradient = call.tensor(0);
  const Tensor* input = call.tensor(1);
  if (!gradient || !input) return std::nullopt;
  Work work;
  work.type = gradient->type;
  work.other_flops = gradient->elements();
  // Only sizes of the input are needed, not its values.
  work.bytes =
      gradient->bytes() + input->elements() * static_cast<double>(bytes_of(gradient->type));
  if (const Tensor* index = call.tensor(call.inputs.size() - 1);
      index && index->type == Element::int64)
    work.bytes += index->bytes();
  return work;
}

/// (input, output size)
std::optional<Work> adaptive(const Call& call, const Program&) {
  const Tensor* input = call.tensor(0);
  const auto size = call.numbers(1);
  if (!input || size.empty() || input->dims.size() <= size.size()) return std::nullopt;
  double results = outer(*input, size.size());
  for (const auto side : size) results *= static_cast<double>(side);
  Work work;
  work.type = input->type;
  work.other_flops = input->elements();
  work.bytes = input->bytes() + results * static_cast<double>(bytes_of(input->type));
  return work;
}

constexpr auto kPooling = WorkFamily::reduction;
constexpr std::array kPoolingRules{
    Rule{"max_pool2d_with_indices", kPooling, largest},
    Rule{"max_pool3d_with_indices", kPooling, largest},
    Rule{"max_pool2d_with_indices_backward", kPooling, backward},
    Rule{"max_pool3d_with_indices_backward", kPooling, backward},
    Rule{"avg_pool2d", kPooling, average},
    Rule{"avg_pool3d", kPooling, average},
    Rule{"avg_pool2d_backward", kPooling, backward},
    Rule{"avg_pool3d_backward", kPooling, backward},
    Rule{"_adaptive_avg_pool2d", kPooling, adaptive},
    Rule{"_adaptive_avg_pool3d", kPooling, adaptive},
    Rule{"_adaptive_avg_pool2d_backward", kPooling, backward},
    Rule{"_adaptive_avg_pool3d_backward", kPooling, backward},
};

}  // namespace

std::span<const Rule> pooling_rules() { return kPoolingRules; }

}  // namespace gf::work
