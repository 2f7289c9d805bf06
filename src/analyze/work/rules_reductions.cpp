// Reductions and losses: the input read once, one operation an element. What is written is small
// where it is not known.

#include <algorithm>
#include <array>
#include <cmath>

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

/// The axes that an input names: a list, or one number of a call that has more settings. A number
/// that is the last input is a type.
std::vector<std::int64_t> axes_of(const Call& call, std::size_t at) {
  if (auto list = call.numbers(at); !list.empty()) return list;
  const auto one = call.number(at);
  if (!one || at + 1 >= call.inputs.size()) return {};
  return {*one};
}

/// `result_bytes` of each element that is left.
std::optional<Work> reduced(const Call& call, double operations,
                            const std::vector<std::int64_t>& axes, std::int64_t result_bytes) {
  const Tensor* input = call.tensor(0);
  if (!input) return std::nullopt;
  Work work;
  work.type = input->type;
  work.other_flops = operations * input->elements();
  work.bytes = input->bytes() + left_over(*input, axes) * static_cast<double>(result_bytes);
  return work;
}

std::int64_t input_width(const Call& call) {
  const Tensor* input = call.tensor(0);
  return input ? bytes_of(input->type) : 0;
}

constexpr std::int64_t kIndexBytes = 8;

/// Integers and truth values are summed as integers of 64 bits.
std::optional<Work> sum(const Call& call, const Program&) {
  const Tensor* input = call.tensor(0);
  return reduced(call, 1, axes_of(call, 1),
                 input && is_whole(input->type) ? kIndexBytes : input_width(call));
}
std::optional<Work> mean(const Call& call, const Program&) {
  return reduced(call, 1, axes_of(call, 1), input_width(call));
}
std::optional<Work> any_or_all(const Call& call, const Program&) {
  return reduced(call, 1, axes_of(call, 1), 1);
}
std::optional<Work> place(const Call& call, const Program&) {
  return reduced(call, 1, axes_of(call, 1), kIndexBytes);
}
/// Along an axis values and their places; of two tensors the elementwise one, another operator.
std::optional<Work> extreme(const Call& call, const Program&) {
  if (call.tensor(1)) return std::nullopt;
  const auto axes = axes_of(call, 1);
  return reduced(call, 1, axes, input_width(call) + (axes.empty() ? 0 : kIndexBytes));
}
/// The order of the norm stands before the axes, which are a list.
std::optional<Work> squares(const Call& call, const Program&) {
  return reduced(call, 2, call.numbers(2), input_width(call));
}
std::optional<Work> variance(const Call& call, const Program&) {
  return reduced(call, 3, axes_of(call, 1), input_width(call));
}

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
    Rule{"mean", kReduction, mean},
    Rule{"prod", kReduction, sum},
    Rule{"max", kReduction, extreme},
    Rule{"min", kReduction, extreme},
    Rule{"amax", kReduction, mean},
    Rule{"amin", kReduction, mean},
    Rule{"argmax", kReduction, place},
    Rule{"argmin", kReduction, place},
    Rule{"any", kReduction, any_or_all},
    Rule{"all", kReduction, any_or_all},
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

// Normalizations and softmax: the operations an element stand in docs/work.md. Statistics need the
// whole row or channel; a fused kernel still reads its input once.

namespace {

/// Reads every input, writes as many elements as input `like` has, `writes` times.
std::optional<Work> streamed(const Call& call, std::size_t like, double writes, double operations) {
  const Tensor* shape = call.tensor(like);
  if (!shape) return std::nullopt;
  Work work;
  work.type = shape->type;
  work.other_flops = operations * shape->elements();
  work.bytes =
      input_bytes(call) + writes * shape->elements() * static_cast<double>(bytes_of(shape->type));
  return work;
}

// Mean and variance (3), difference, scale, weight and bias (4).
std::optional<Work> forward(const Call& call, const Program&) { return streamed(call, 0, 1, 7); }
// Two sums (4), the gradient of the input (5), those of weight and bias (3).
std::optional<Work> norm_backward(const Call& call, const Program&) {
  return streamed(call, 0, 1, 12);
}
// Square, sum, scale and weight.
std::optional<Work> rms(const Call& call, const Program&) { return streamed(call, 0, 1, 4); }
std::optional<Work> rms_backward(const Call& call, const Program&) {
  return streamed(call, 0, 1, 9);
}
// Maximum, difference, exponential, sum, quotient.
std::optional<Work> softmax(const Call& call, const Program&) { return streamed(call, 0, 1, 5); }
std::optional<Work> softmax_backward(const Call& call, const Program&) {
  return streamed(call, 0, 1, 4);
}
std::optional<Work> statistics(const Call& call, const Program&) { return streamed(call, 0, 0, 3); }
std::optional<Work> applied(const Call& call, const Program&) { return streamed(call, 0, 1, 4); }

constexpr auto kNorm = WorkFamily::normalisation;
constexpr auto kSoftmax = WorkFamily::softmax;
constexpr std::array kNormalisationRules{
    Rule{"native_layer_norm", kNorm, forward},
    Rule{"native_layer_norm_backward", kNorm, norm_backward},
    Rule{"native_batch_norm", kNorm, forward},
    Rule{"native_batch_norm_backward", kNorm, norm_backward},
    Rule{"_native_batch_norm_legit", kNorm, forward},
    Rule{"_native_batch_norm_legit_no_training", kNorm, applied},
    Rule{"_batch_norm_with_update", kNorm, forward},
    Rule{"batch_norm_backward", kNorm, norm_backward},
    Rule{"cudnn_batch_norm", kNorm, forward},
    Rule{"cudnn_batch_norm_backward", kNorm, norm_backward},
    Rule{"miopen_batch_norm", kNorm, forward},
    Rule{"miopen_batch_norm_backward", kNorm, norm_backward},
    Rule{"batch_norm_stats", kNorm, statistics},
    Rule{"batch_norm_elemt", kNorm, applied},
    Rule{"batch_norm_backward_reduce", kNorm, statistics},
    Rule{"batch_norm_backward_elemt", kNorm, applied},
    Rule{"native_group_norm", kNorm, forward},
    Rule{"native_group_norm_backward", kNorm, norm_backward},
    Rule{"_fused_rms_norm", kNorm, rms},
    Rule{"_fused_rms_norm_backward", kNorm, rms_backward},
    Rule{"_softmax", kSoftmax, softmax},
    Rule{"_log_softmax", kSoftmax, softmax},
    Rule{"_softmax_backward_data", kSoftmax, softmax_backward},
    Rule{"_log_softmax_backward_data", kSoftmax, softmax_backward},
    Rule{"_masked_softmax", kSoftmax, softmax},
};

}  // namespace

std::span<const Rule> normalisation_rules() { return kNormalisationRules; }

// Pooling: every input element read, every result written.

namespace {

double outer(const Tensor& input, std::size_t axes) {
  double product = 1;
  for (std::size_t i = 0; i + axes < input.dims.size(); ++i)
    product *= static_cast<double>(input.dims[i]);
  return product;
}

/// Places of a window along an axis. One that reaches over the end counts where the call asks for
/// it and it begins inside the input or the padding before it.
double places_of(double room, double step, double size, double padding, bool over_the_end) {
  const double whole = std::floor(room / step) + 1;
  const bool rest = over_the_end && std::fmod(room, step) > 0 && whole * step < size + padding;
  return whole + (rest ? 1 : 0);
}

/// (input, kernel, stride, padding, ...): results of a window that moves over the last axes.
std::optional<Work> windows(const Call& call, double index_bytes, std::size_t dilation_at) {
  const bool over_the_end = call.flag(dilation_at > 0 ? 5 : 4, 0, false);
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
    const double padding = at_or(call.numbers(3), axis, 0);
    const double room = size + 2 * padding - dilation * (side - 1) - 1;
    if (room < 0 || step <= 0) return std::nullopt;
    results *= places_of(room, step, size, padding, over_the_end);
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
std::optional<Work> pool_backward(const Call& call, const Program&) {
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
    Rule{"max_pool2d_with_indices_backward", kPooling, pool_backward},
    Rule{"max_pool3d_with_indices_backward", kPooling, pool_backward},
    Rule{"avg_pool2d", kPooling, average},
    Rule{"avg_pool3d", kPooling, average},
    Rule{"avg_pool2d_backward", kPooling, pool_backward},
    Rule{"avg_pool3d_backward", kPooling, pool_backward},
    Rule{"_adaptive_avg_pool2d", kPooling, adaptive},
    Rule{"_adaptive_avg_pool3d", kPooling, adaptive},
    Rule{"_adaptive_avg_pool2d_backward", kPooling, pool_backward},
    Rule{"_adaptive_avg_pool3d_backward", kPooling, pool_backward},
};

}  // namespace

std::span<const Rule> pooling_rules() { return kPoolingRules; }

// Look-ups: the rows that are asked for, read once and written once, whatever the table's size.
// The same row asked for twice may come out of a cache: at most one read of each row is least.

namespace {

/// Bytes of `asked` rows of a table; of no more rows than it has.
double row_bytes(const Tensor& table, double asked, double row_elements) {
  const double rows = std::min(asked, static_cast<double>(table.dim(0)));
  return rows * row_elements * static_cast<double>(bytes_of(table.type));
}

double row_elements(const Tensor& table) {
  return table.dim(0) > 0 ? table.elements() / static_cast<double>(table.dim(0)) : 0;
}

std::optional<Work> lookup(const Call& call, std::size_t index_at) {
  const Tensor* table = call.tensor(0);
  const Tensor* index = call.tensor(index_at);
  if (!table || !index || table->dims.empty()) return std::nullopt;
  const double width = row_elements(*table), asked = index->elements();
  Work work;
  work.type = table->type;
  work.bytes = row_bytes(*table, asked, width) + index->bytes() +
               asked * width * static_cast<double>(bytes_of(table->type));
  return work;
}

std::optional<Work> embedding(const Call& call, const Program&) { return lookup(call, 1); }

/// (gradient, indices, rows of the table, ...): the gradient of the whole table is written.
std::optional<Work> gradient(const Call& call, const Program&) {
  const Tensor* gradient = call.tensor(0);
  const Tensor* index = call.tensor(1);
  const auto rows = call.number(2);
  if (!gradient || !index || gradient->dims.empty()) return std::nullopt;
  const auto width = static_cast<double>(gradient->dims.back());
  Work work;
  work.type = gradient->type;
  work.other_flops = gradient->elements();
  work.bytes = gradient->bytes() + index->bytes();
  if (rows)
    work.bytes +=
        static_cast<double>(*rows) * width * static_cast<double>(bytes_of(gradient->type));
  return work;
}

/// (table, indices, offsets, ...): the sum of the rows of each bag.
std::optional<Work> bag(const Call& call, const Program&) {
  const Tensor* table = call.tensor(0);
  const Tensor* index = call.tensor(1);
  const Tensor* offsets = call.tensor(2);
  if (!table || !index || !offsets || table->dims.empty()) return std::nullopt;
  const double width = row_elements(*table);
  Work work;
  work.type = table->type;
  work.other_flops = index->elements() * width;
  work.bytes = row_bytes(*table, index->elements(), width) + index->bytes() + offsets->bytes() +
               offsets->elements() * width * static_cast<double>(bytes_of(table->type));
  return work;
}

constexpr auto kEmbedding = WorkFamily::embedding;
constexpr std::array kEmbeddingRules{
    Rule{"embedding", kEmbedding, embedding},
    Rule{"embedding_dense_backward", kEmbedding, gradient},
    Rule{"_embedding_bag", kEmbedding, bag},
    Rule{"_embedding_bag_forward_only", kEmbedding, bag},
};

}  // namespace

std::span<const Rule> embedding_rules() { return kEmbeddingRules; }

}  // namespace gf::work
