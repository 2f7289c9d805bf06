// Normalizations and softmax: the operations an element stand in docs/work.md. Statistics need the
// whole row or channel; a fused kernel still reads its input once.
#include <array>

#include "analyze/work/rules.h"

namespace gf::work {
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
std::optional<Work> backward(const Call& call, const Program&) { return streamed(call, 0, 1, 12); }
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
    Rule{"native_layer_norm_backward", kNorm, backward},
    Rule{"native_batch_norm", kNorm, forward},
    Rule{"native_batch_norm_backward", kNorm, backward},
    Rule{"_native_batch_norm_legit", kNorm, forward},
    Rule{"_native_batch_norm_legit_no_training", kNorm, applied},
    Rule{"_batch_norm_with_update", kNorm, forward},
    Rule{"batch_norm_backward", kNorm, backward},
    Rule{"cudnn_batch_norm", kNorm, forward},
    Rule{"cudnn_batch_norm_backward", kNorm, backward},
    Rule{"miopen_batch_norm", kNorm, forward},
    Rule{"miopen_batch_norm_backward", kNorm, backward},
    Rule{"batch_norm_stats", kNorm, statistics},
    Rule{"batch_norm_elemt", kNorm, applied},
    Rule{"batch_norm_backward_reduce", kNorm, statistics},
    Rule{"batch_norm_backward_elemt", kNorm, applied},
    Rule{"native_group_norm", kNorm, forward},
    Rule{"native_group_norm_backward", kNorm, backward},
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

}  // namespace gf::work
