// Matrix products: 2 m n k operations; both operands read, the result written.

#include <algorithm>
#include <array>
#include <cmath>

#include "analyze/work/rules.h"

namespace gf::work {
namespace {

/// Of complex numbers, four real products: rows of real and imaginary parts by a matrix of both,
/// twice as wide.
Product in_real_numbers(Product product, Element type) {
  if (type == Element::complex64 || type == Element::complex128) {
    product.n *= 2;
    product.k *= 2;
  }
  return product;
}

Work product_work(const Product& product, const Tensor& left, const Tensor& right,
                  double other_bytes, Element result) {
  Work work;
  work.type = left.type;
  work.bytes = left.bytes() + right.bytes() + other_bytes +
               product.batch * product.m * product.n * static_cast<double>(bytes_of(result));
  work.products.push_back(in_real_numbers(product, left.type));
  work.flops = work.products[0].flops();
  return work;
}

double size(const Tensor& tensor, std::size_t dim) { return static_cast<double>(tensor.dim(dim)); }

/// Sums of integers are 32 bits wide; a result of 8-bit floats is 16 bits unless told otherwise.
Element result_of(Element operands) {
  if (operands == Element::int8) return Element::int32;
  return operands == Element::fp8 ? Element::bf16 : operands;
}

/// left (m x k) by right (k x n), at inputs `first` and `first` + 1; what stands before them is
/// added to the result.
std::optional<Work> matrix(const Call& call, std::size_t first) {
  const Tensor* left = call.tensor(first);
  const Tensor* right = call.tensor(first + 1);
  if (!left || !right || left->dims.size() != 2 || right->dims.size() != 2) return std::nullopt;
  if (left->dims[1] != right->dims[0]) return std::nullopt;
  const Tensor* added = first > 0 ? call.tensor(0) : nullptr;
  const Product product{1, size(*left, 0), size(*right, 1), size(*left, 1)};
  return product_work(product, *left, *right, added ? added->bytes() : 0, result_of(left->type));
}

/// The type that a number of c10::ScalarType means, of those that products give.
Element result_named(std::int64_t number) {
  switch (number) {
    case 5:
      return Element::fp16;
    case 6:
      return Element::fp32;
    case 15:
      return Element::bf16;
    case 23:
    case 24:
    case 25:
    case 26:
      return Element::fp8;
    default:
      return Element::none;
  }
}

/// (left, right, scales of both, bias, scale of the result, type of the result, ...); before
/// PyTorch 2.5 (left, right, bias, type of the result, scales, ...).
std::optional<Work> scaled(const Call& call, const Program&) {
  auto work = matrix(call, 0);
  if (!work) return std::nullopt;
  constexpr std::size_t kType = 6, kTypeBefore = 3;
  for (std::size_t i = 2; i <= kType; ++i)
    if (const Tensor* scale_or_bias = call.tensor(i)) work->bytes += scale_or_bias->bytes();
  auto said = call.number(kType);
  if (!said) said = call.number(kTypeBefore);
  const Element told = said ? result_named(*said) : Element::none;
  const auto& product = work->products[0];
  if (told != Element::none && call.tensor(0)->type == Element::fp8)
    work->bytes +=
        product.m * product.n * static_cast<double>(bytes_of(told) - bytes_of(Element::bf16));
  return work;
}

std::optional<Work> mm(const Call& call, const Program&) { return matrix(call, 0); }
std::optional<Work> addmm(const Call& call, const Program&) { return matrix(call, 1); }

std::optional<Work> batched(const Call& call, std::size_t first) {
  const Tensor* left = call.tensor(first);
  const Tensor* right = call.tensor(first + 1);
  if (!left || !right || left->dims.size() != 3 || right->dims.size() != 3) return std::nullopt;
  if (left->dims[2] != right->dims[1] || left->dims[0] != right->dims[0]) return std::nullopt;
  const Tensor* added = first > 0 ? call.tensor(0) : nullptr;
  const Product product{size(*left, 0), size(*left, 1), size(*right, 2), size(*left, 2)};
  return product_work(product, *left, *right, added ? added->bytes() : 0, left->type);
}

std::optional<Work> bmm(const Call& call, const Program&) { return batched(call, 0); }
std::optional<Work> baddbmm(const Call& call, const Program&) { return batched(call, 1); }

std::optional<Work> vector(const Call& call, std::size_t first) {
  const Tensor* left = call.tensor(first);
  const Tensor* right = call.tensor(first + 1);
  if (!left || !right || left->dims.size() != 2 || right->dims.size() != 1) return std::nullopt;
  const Tensor* added = first > 0 ? call.tensor(0) : nullptr;
  const Product product{1, size(*left, 0), 1, size(*left, 1)};
  return product_work(product, *left, *right, added ? added->bytes() : 0, left->type);
}

std::optional<Work> mv(const Call& call, const Program&) { return vector(call, 0); }
std::optional<Work> addmv(const Call& call, const Program&) { return vector(call, 1); }

std::optional<Work> dot(const Call& call, const Program&) {
  const Tensor* left = call.tensor(0);
  const Tensor* right = call.tensor(1);
  if (!left || !right || left->dims.size() != 1 || right->dims.size() != 1) return std::nullopt;
  return product_work({1, 1, 1, size(*left, 0)}, *left, *right, 0, left->type);
}

/// Products of several groups. A side of two dimensions holds the groups one after the other, and
/// every row of it is multiplied once; of two such sides the groups divide what is summed over.
std::optional<Work> grouped(const Call& call, std::size_t ends_at) {
  const Tensor* left = call.tensor(0);
  const Tensor* right = call.tensor(1);
  if (!left || !right) return std::nullopt;
  const auto left_dims = left->dims.size(), right_dims = right->dims.size();
  if (left_dims < 2 || left_dims > 3 || right_dims < 2 || right_dims > 3) return std::nullopt;
  const double m = size(*left, left_dims - 2), n = size(*right, right_dims - 1),
               k = size(*left, left_dims - 1);
  if (k != size(*right, right_dims - 2)) return std::nullopt;
  if (left_dims == 3 && right_dims == 3) return batched(call, 0);
  const Element result = result_of(left->type);
  auto work = product_work({1, m, n, k}, *left, *right, 0, result);
  const Tensor* ends = call.tensor(ends_at);
  if (left_dims == 2 && right_dims == 2) {
    if (!ends) return std::nullopt;  // the number of results is not known
    work.bytes += (ends->elements() - 1) * m * n * static_cast<double>(bytes_of(result));
  }
  return work;
}

std::optional<Work> groups(const Call& call, const Program&) { return grouped(call, 2); }
/// Two scales stand before the ends of the groups.
std::optional<Work> scaled_groups(const Call& call, const Program&) { return grouped(call, 4); }

constexpr auto kProduct = WorkFamily::product;
constexpr std::array kProductRules{
    Rule{"mm", kProduct, mm},
    Rule{"_int_mm", kProduct, mm},
    Rule{"_scaled_mm", kProduct, scaled},
    Rule{"addmm", kProduct, addmm},
    Rule{"_addmm_activation", kProduct, addmm},
    Rule{"bmm", kProduct, bmm},
    Rule{"baddbmm", kProduct, baddbmm},
    Rule{"mv", kProduct, mv},
    Rule{"addmv", kProduct, addmv},
    Rule{"dot", kProduct, dot},
    Rule{"vdot", kProduct, dot},
    Rule{"_grouped_mm", kProduct, groups},
    Rule{"_scaled_grouped_mm", kProduct, scaled_groups},
};

}  // namespace

std::span<const Rule> product_rules() { return kProductRules; }

// Convolutions as matrix products: each result element is a sum over the filter and the input
// channels of its group. The backward pass is one product for the gradient of the input and one for
// that of the weight, as far as they are asked for.

namespace {

/// Places of the inputs in a call; kNone: it has none.
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
  double touched = 1;    // share of the input that the filter meets: a wide stride leaves some out
};

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

/// The geometry of a forward convolution with `input` and `weight`. The weight is out x in-of-group
/// x filter, or in x out-of-group x filter when transposed.
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
    const double stride = at_or(call.numbers(places.stride), axis, 1);
    const bool leaves_out = !transposed && stride > filter && *size > 0 && side > 0 &&
                            at_or(call.numbers(places.dilation), axis, 1) == 1;
    if (leaves_out) geometry.touched *= std::min(1.0, *size * filter / side);
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

std::optional<Work> convolution_forward(const Call& call, const Places& places) {
  const Tensor* input = call.tensor(0);
  const Tensor* weight = call.tensor(1);
  if (!input || !weight) return std::nullopt;
  const auto shape = geometry(call, places, *input, *weight);
  if (!shape) return std::nullopt;
  Work work;
  work.products.push_back(in_real_numbers(forward_product(*shape), input->type));
  work.flops = work.products[0].flops();
  work.type = input->type;
  work.bytes = input_bytes(call) - (1 - shape->touched) * input->bytes() +
               shape->result * static_cast<double>(bytes_of(input->type));
  return work;
}

std::optional<Work> convolution(const Call& call, const Program&) {
  return convolution_forward(call, {3, 4, 5, 6, 7, 8});
}
std::optional<Work> cudnn(const Call& call, const Program&) {
  return convolution_forward(call, {3, 2, 4, kNone, kNone, 5});
}
/// With a bias in front of the padding.
std::optional<Work> with_bias(const Call& call, const Program&) {
  return convolution_forward(call, {4, 3, 5, kNone, kNone, 6});
}
std::optional<Work> cudnn_relu(const Call& call, const Program&) {
  return convolution_forward(call, {3, 4, 5, kNone, kNone, 6});
}

/// (grad_output, input, weight, bias sizes, stride, padding, dilation, transposed, output padding,
/// groups, output mask)
std::optional<Work> convolution_backward(const Call& call, const Program&) {
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
  const auto add = [&](const Product& product) {
    work.products.push_back(in_real_numbers(product, gradient->type));
  };
  if (call.flag(10, 0)) {
    add({ahead.batch, ahead.m, ahead.k, ahead.n, Product::Part::input_gradient});
    work.bytes += weight->bytes() + input->elements() * width;
  }
  if (call.flag(10, 1)) {
    add({ahead.batch, ahead.n, ahead.k, ahead.m, Product::Part::weight_gradient});
    work.bytes += shape->touched * input->bytes() + weight->elements() * width;
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
    Rule{"miopen_convolution", kConvolution, with_bias},
    Rule{"mkldnn_convolution", kConvolution, with_bias},
    Rule{"cudnn_convolution_relu", kConvolution, cudnn_relu},
    Rule{"convolution_backward", kConvolution, convolution_backward},
    Rule{"convolution_backward_overrideable", kConvolution, convolution_backward},
};

}  // namespace

std::span<const Rule> convolution_rules() { return kConvolutionRules; }

// Fused attention: two products forward, five backward, of which one (the scores) is worked out a
// second time. Masks, causal ones too, do not make the model's work less: the same convention as
// torch.utils.flop_counter and as most published figures of model FLOPs utilization.

namespace {

struct Sizes {
  double batch = 0;  // times heads
  double queries = 0, keys = 0, width = 0, value_width = 0;
};

/// Offsets of sequences in a batch that holds them one after the other: which queries meet which
/// keys stands in their values, which no profiler records.
bool holds_sequences(const Call& call, std::size_t after) {
  for (std::size_t i = after; i < call.inputs.size(); ++i)
    if (const Tensor* offsets = call.tensor(i); offsets && offsets->type == Element::int32 &&
                                                offsets->dims.size() == 1 &&
                                                offsets->elements() > 1)
      return true;
  return false;
}

/// Tensors of batch, heads, sequence, width (`heads_first`) or batch, sequence, heads, width. Three
/// dimensions: several sequences one after the other, without padding.
std::optional<Sizes> sizes_of(const Call& call, std::size_t first, bool heads_first) {
  const Tensor* query = call.tensor(first);
  const Tensor* key = call.tensor(first + 1);
  const Tensor* value = call.tensor(first + 2);
  if (!query || !key || !value || query->dims.size() != 4 || key->dims.size() != 4 ||
      value->dims.size() != 4)
    return std::nullopt;
  if (holds_sequences(call, first + 3)) return std::nullopt;
  const std::size_t heads = heads_first ? 1 : 2, sequence = heads_first ? 2 : 1;
  return Sizes{size(*query, 0) * size(*query, heads), size(*query, sequence), size(*key, sequence),
               size(*query, 3), size(*value, 3)};
}

double forward_flops(const Sizes& of) {
  return 2 * of.batch * of.queries * of.keys * (of.width + of.value_width);
}

std::optional<Work> attention_forward(const Call& call, bool heads_first) {
  const auto sizes = sizes_of(call, 0, heads_first);
  if (!sizes) return std::nullopt;
  const Tensor& query = *call.tensor(0);
  Work work;
  work.type = query.type;
  work.flops = forward_flops(*sizes);
  work.products = {{sizes->batch, sizes->queries, sizes->keys, sizes->width},
                   {sizes->batch, sizes->queries, sizes->value_width, sizes->keys}};
  work.other_flops = 5 * sizes->batch * sizes->queries * sizes->keys;  // as of a softmax
  const Tensor* bias = call.tensor(3);                                 // added to the scores
  work.bytes = query.bytes() + call.tensor(1)->bytes() + call.tensor(2)->bytes() +
               (bias ? bias->bytes() : 0) +
               sizes->batch * sizes->queries * sizes->value_width *
                   static_cast<double>(bytes_of(query.type));
  return work;
}

std::optional<Work> attention_backward(const Call& call, bool heads_first) {
  const auto sizes = sizes_of(call, 1, heads_first);
  const Tensor* gradient = call.tensor(0);
  if (!sizes || !gradient) return std::nullopt;
  const double pairs = 2 * sizes->batch * sizes->queries * sizes->keys;
  Work work;
  work.type = call.tensor(1)->type;
  // Scores again, then the gradients of scores and values, of queries and of keys.
  work.recomputed = pairs * sizes->width;
  work.flops = pairs * (3 * sizes->width + 2 * sizes->value_width);
  work.products = {
      {sizes->batch, sizes->queries, sizes->keys, 3 * sizes->width + 2 * sizes->value_width}};
  work.other_flops = 8 * sizes->batch * sizes->queries * sizes->keys;
  // Read: the gradient, both forward operands and the values; written: a gradient for each.
  const double operands =
      call.tensor(1)->bytes() + call.tensor(2)->bytes() + call.tensor(3)->bytes();
  work.bytes = gradient->bytes() + 2 * operands;
  return work;
}

std::optional<Work> heads_forward(const Call& call, const Program&) {
  return attention_forward(call, true);
}
std::optional<Work> heads_backward(const Call& call, const Program&) {
  return attention_backward(call, true);
}
std::optional<Work> rows_forward(const Call& call, const Program&) {
  return attention_forward(call, false);
}
std::optional<Work> rows_backward(const Call& call, const Program&) {
  return attention_backward(call, false);
}

constexpr auto kAttention = WorkFamily::attention;
constexpr std::array kAttentionRules{
    Rule{"_scaled_dot_product_flash_attention", kAttention, heads_forward},
    Rule{"_scaled_dot_product_efficient_attention", kAttention, heads_forward},
    Rule{"_scaled_dot_product_cudnn_attention", kAttention, heads_forward},
    Rule{"_scaled_dot_product_fused_attention_overrideable", kAttention, heads_forward},
    Rule{"_scaled_dot_product_flash_attention_for_cpu", kAttention, heads_forward},
    Rule{"_cudnn_attention_forward", kAttention, heads_forward},
    Rule{"_flash_attention_forward", kAttention, rows_forward},
    Rule{"_efficient_attention_forward", kAttention, rows_forward},
    Rule{"flash_attn::_flash_attn_forward", kAttention, rows_forward},
    Rule{"_scaled_dot_product_flash_attention_backward", kAttention, heads_backward},
    Rule{"_scaled_dot_product_efficient_attention_backward", kAttention, heads_backward},
    Rule{"_scaled_dot_product_cudnn_attention_backward", kAttention, heads_backward},
    Rule{"_scaled_dot_product_fused_attention_overrideable_backward", kAttention, heads_backward},
    Rule{"_scaled_dot_product_flash_attention_for_cpu_backward", kAttention, heads_backward},
    Rule{"_cudnn_attention_backward", kAttention, heads_backward},
    Rule{"_flash_attention_backward", kAttention, rows_backward},
    Rule{"_efficient_attention_backward", kAttention, rows_backward},
    Rule{"flash_attn::_flash_attn_backward", kAttention, rows_backward},
};

}  // namespace

std::span<const Rule> attention_rules() { return kAttentionRules; }

}  // namespace gf::work
