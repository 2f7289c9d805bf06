// Convolutions as matrix products: each result element is a sum over the filter and the input
// channels of its group. The backward pass is one product for the gradient of the input and one for
// that of the weight, as far as they are asked for.
#include <array>
#include <cmath>

#include "analyze/work/rules.h"

namespace gf::work {
namespace {

/// Where a call says what; kNone: not at all.
struct Places {
  std::size_t stride, padding, dilation, transposed, output_padding, groups;
};
constexpr std::size_t kNone = 99;

struct Geometry {
  double batch = 0, groups = 1;
  double out_channels = 0, in_channels_of_group = 0;  // of the forward convolution
  double filter = 1;                                  // positions of the filter
  double positions = 1;  // where the filter is laid: of the result; of the input when transposed
  double result = 0;     // elements of the result
};

double at_or(const std::vector<std::int64_t>& list, std::size_t i, double otherwise) {
  if (list.empty()) return otherwise;
  return static_cast<double>(list[i < list.size() ? i : list.size() - 1]);
}

std::optional<double> result_size(const Call& call, const Places& places, std::size_t axis,
                                  double input, double filter, bool transposed) {
  const double stride = at_or(call.numbers(places.stride), axis, 1),
               padding = at_or(call.numbers(places.padding), axis, 0),
               dilation = at_or(call.numbers(places.dilation), axis, 1);
  if (stride <= 0 || filter <= 0) return std::nullopt;
  if (transposed)
    return (input - 1) * stride - 2 * padding + dilation * (filter - 1) + 1 +
           at_or(call.numbers(places.output_padding), axis, 0);
  const double span = input + 2 * padding - dilation * (filter - 1) - 1;
  if (span < 0) return std::nullopt;
  return std::floor(span / stride) + 1;
}

/// Of a forward convolution with `input` and `weight`. The weight is out x in-of-group x filter, or
/// in x out-of-group x filter when transposed.
std::optional<Geometry> geometry(const Call& call, const Places& places, const Tensor& input,
                                 const Tensor& weight) {
  if (weight.dims.size() < 3 || input.dims.size() != weight.dims.size()) return std::nullopt;
  // Stride and padding stand in the recorded values: without these the size of the result is a
  // guess.
  if (call.numbers(places.stride).empty()) return std::nullopt;
  const bool transposed = places.transposed != kNone && call.flag(places.transposed, 0, false);
  Geometry geometry;
  geometry.groups = static_cast<double>(call.number(places.groups).value_or(1));
  if (geometry.groups < 1) return std::nullopt;
  geometry.batch = static_cast<double>(input.dims[0]);
  double result_positions = 1, input_positions = 1;
  for (std::size_t axis = 0; axis + 2 < weight.dims.size(); ++axis) {
    const auto side = static_cast<double>(input.dims[axis + 2]),
               filter = static_cast<double>(weight.dims[axis + 2]);
    const auto size = result_size(call, places, axis, side, filter, transposed);
    if (!size || *size < 0) return std::nullopt;
    result_positions *= *size;
    input_positions *= side;
    geometry.filter *= filter;
  }
  const auto first = static_cast<double>(weight.dims[0]),
             second = static_cast<double>(weight.dims[1]);
  geometry.out_channels = transposed ? second * geometry.groups : first;
  geometry.in_channels_of_group = transposed ? first / geometry.groups : second;
  geometry.positions = transposed ? input_positions : result_positions;
  geometry.result = geometry.batch * geometry.out_channels * result_positions;
  return geometry;
}

/// One result channel of a group for each m x n entry.
Product forward_product(const Geometry& of) {
  return {of.groups, of.batch * of.positions, of.out_channels / of.groups,
          of.in_channels_of_group * of.filter};
}

std::optional<Work> forward(const Call& call, const Places& places) {
  const Tensor* input = call.tensor(0);
  const Tensor* weight = call.tensor(1);
  if (!input || !weight) return std::nullopt;
  const auto shape = geometry(call, places, *input, *weight);
  if (!shape) return std::nullopt;
  Work work;
  work.products.push_back(forward_product(*shape));
  work.flops = work.products[0].flops();
  work.type = input->type;
  work.bytes = input_bytes(call) + shape->result * static_cast<double>(bytes_of(input->type));
  return work;
}

std::optional<Work> convolution(const Call& call, const Program&) {
  return forward(call, {3, 4, 5, 6, 7, 8});
}
std::optional<Work> cudnn(const Call& call, const Program&) {
  return forward(call, {3, 2, 4, kNone, kNone, 5});
}
std::optional<Work> cudnn_relu(const Call& call, const Program&) {
  return forward(call, {3, 4, 5, kNone, kNone, 6});
}

/// (grad_output, input, weight, bias sizes, stride, padding, dilation, transposed, output padding,
/// groups, output mask)
std::optional<Work> backward(const Call& call, const Program&) {
  const Tensor* gradient = call.tensor(0);
  const Tensor* input = call.tensor(1);
  const Tensor* weight = call.tensor(2);
  if (!gradient || !input || !weight) return std::nullopt;
  const auto shape = geometry(call, {4, 5, 6, 7, 8, 9}, *input, *weight);
  if (!shape) return std::nullopt;
  const double width = static_cast<double>(bytes_of(gradient->type));
  Work work;
  work.type = gradient->type;
  work.bytes = gradient->bytes();
  const Product ahead = forward_product(*shape);
  if (call.flag(10, 0)) {
    work.products.push_back(
        {ahead.batch, ahead.m, ahead.k, ahead.n, Product::Part::input_gradient});
    work.bytes += weight->bytes() + input->elements() * width;
  }
  if (call.flag(10, 1)) {
    work.products.push_back(
        {ahead.batch, ahead.n, ahead.k, ahead.m, Product::Part::weight_gradient});
    work.bytes += input->bytes() + weight->elements() * width;
  }
  if (call.flag(10, 2)) work.other_flops += gradient->elements();
  for (const auto& product : work.products) work.flops += product.flops();
  return work;
}

constexpr auto kConvolution = WorkFamily::convolution;
constexpr std::array kConvolutionRules{
    Rule{"convolution", kConvolution, convolution},
    Rule{"_convolution", kConvolution, convolution},
    Rule{"convolution_overrideable", kConvolution, convolution},
    Rule{"cudnn_convolution", kConvolution, cudnn},
    Rule{"miopen_convolution", kConvolution, cudnn},
    Rule{"mkldnn_convolution", kConvolution, cudnn_relu},
    Rule{"cudnn_convolution_relu", kConvolution, cudnn_relu},
    Rule{"convolution_backward", kConvolution, backward},
    Rule{"convolution_backward_overrideable", kConvolution, backward},
};

}  // namespace

std::span<const Rule> convolution_rules() { return kConvolutionRules; }

}  // namespace gf::work
