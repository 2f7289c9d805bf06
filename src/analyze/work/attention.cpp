// Fused attention: two products forward, five backward, of which one (the scores) is worked out a
// second time. Masks, causal ones too, do not make the model's work less: the same convention as
// torch.utils.flop_counter and as most published figures of model FLOPs utilization.
#include <algorithm>
#include <array>

#include "analyze/work/rules.h"

namespace gf::work {
namespace {

struct Sizes {
  double batch = 0;  // times heads
  double queries = 0, keys = 0, width = 0, value_width = 0;
};

double size(const Tensor& tensor, std::size_t dim) { return static_cast<double>(tensor.dim(dim)); }

/// Tensors of batch, heads, sequence, width (`heads_first`) or batch, sequence, heads, width. Three
/// dimensions: several sequences one after the other, without padding.
std::optional<Sizes> sizes_of(const Call& call, std::size_t first, bool heads_first) {
  const Tensor* query = call.tensor(first);
  const Tensor* key = call.tensor(first + 1);
  const Tensor* value = call.tensor(first + 2);
  if (!query || !key || !value || query->dims.size() != 4 || key->dims.size() != 4 ||
      value->dims.size() != 4)
    return std::nullopt;
  const std::size_t heads = heads_first ? 1 : 2, sequence = heads_first ? 2 : 1;
  return Sizes{size(*query, 0) * size(*query, heads), size(*query, sequence), size(*key, sequence),
               size(*query, 3), size(*value, 3)};
}

double forward_flops(const Sizes& of) {
  return 2 * of.batch * of.queries * of.keys * (of.width + of.value_width);
}

std::optional<Work> forward(const Call& call, bool heads_first) {
  const auto sizes = sizes_of(call, 0, heads_first);
  if (!sizes) return std::nullopt;
  const Tensor& query = *call.tensor(0);
  Work work;
  work.type = query.type;
  work.flops = forward_flops(*sizes);
  work.products = {{sizes->batch, sizes->queries, sizes->keys, sizes->width},
                   {sizes->batch, sizes->queries, sizes->value_width, sizes->keys}};
  work.other_flops = 5 * sizes->batch * sizes->queries * sizes->keys;  // as of a softmax
  work.bytes = query.bytes() + call.tensor(1)->bytes() + call.tensor(2)->bytes() +
               sizes->batch * sizes->queries * sizes->value_width *
                   static_cast<double>(bytes_of(query.type));
  return work;
}

std::optional<Work> backward(const Call& call, bool heads_first) {
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

std::optional<Work> heads_forward(const Call& call, const Program&) { return forward(call, true); }
std::optional<Work> heads_backward(const Call& call, const Program&) {
  return backward(call, true);
}
std::optional<Work> rows_forward(const Call& call, const Program&) { return forward(call, false); }
std::optional<Work> rows_backward(const Call& call, const Program&) {
  return backward(call, false);
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
