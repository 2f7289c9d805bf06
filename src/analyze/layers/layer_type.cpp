#include "analyze/layers/layer_type.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>

#include "core/glob.h"

namespace gf {
namespace {

using enum LayerType;

struct Pattern {
  std::string_view glob;  // lower case
  LayerType type;
};

// The first pattern that fits decides; names are compared in lower case.
constexpr Pattern kOperations[] = {
    {"*nccl*", communication},
    {"c10d::*", communication},
    {"*all_reduce*", communication},
    {"*allreduce*", communication},
    {"*all_gather*", communication},
    {"*allgather*", communication},
    {"*reduce_scatter*", communication},
    {"*all_to_all*", communication},
    {"*record_param_comms*", communication},
    {"*broadcast_coalesced*", communication},
    {"*attention*", attention},
    {"*flash*attn*", attention},
    {"*flashattn*", attention},
    {"*attn*", attention},
    {"*xformers*", attention},
    {"*fmha*", attention},
    {"*convolution*", convolution},
    {"*aten::*conv*d*", convolution},
    {"*conv*d*backward*", convolution},
    {"*miopen_depthwise*", convolution},
    {"*slow_conv*", convolution},
    {"*conv_transpose*", convolution},
    {"aten::conv_*", convolution},
    {"*deform_conv*", convolution},
    {"*batch_norm*", normalisation},
    {"*batchnorm*", normalisation},
    {"*layer_norm*", normalisation},
    {"*layernorm*", normalisation},
    {"*group_norm*", normalisation},
    {"*groupnorm*", normalisation},
    {"*instance_norm*", normalisation},
    {"*rms_norm*", normalisation},
    {"*rmsnorm*", normalisation},
    {"*local_response_norm*", normalisation},
    {"*weight_norm*", normalisation},
    {"*rotary*", elementwise},
    {"*embedding*", embedding},
    {"*kvcache*", data_movement},
    {"*kv_cache*", data_movement},
    {"*nll_loss*", loss},
    {"*nllloss*", loss},
    {"*cross_entropy*", loss},
    {"*_loss*", loss},
    {"*loss*backward*", loss},
    {"*kl_div*", loss},
    {"*ctc*", loss},
    {"*softmax*", softmax},
    {"*_pool*", pooling},
    {"*pool2d*", pooling},
    {"*pool1d*", pooling},
    {"*pool3d*", pooling},
    {"*roi_align*", pooling},
    {"*lstm*", recurrent},
    {"*gru_cell*", recurrent},
    {"aten::gru*", recurrent},
    {"*_rnn*", recurrent},
    {"*cudnnrnn*", recurrent},
    {"aten::_foreach_copy*", copy},
    {"aten::_foreach_*", optimiser},
    {"aten::_fused_adam*", optimiser},
    {"aten::_fused_sgd*", optimiser},
    {"*_amp_*", optimiser},
    {"*multi_tensor*", optimiser},
    {"optimizer.*", optimiser},
    {"aten::linear*", matmul},
    {"*addmm*", matmul},
    {"*aten::mm*", matmul},
    {"*bmm*", matmul},
    {"*matmul*", matmul},
    {"*aten::mv*", matmul},
    {"*addmv*", matmul},
    {"*aten::dot", matmul},
    {"*einsum*", matmul},
    {"*_scaled_mm*", matmul},
    {"*grouped_mm*", matmul},
    {"*: mm*backward*", matmul},
    {"mm*backward*", matmul},
    {"*_int_mm*", matmul},
    {"*linear*backward*", matmul},
    {"*gemm*", matmul},
    {"*kron*", matmul},
    {"*baddbmm*", matmul},
    {"*dropout*", random},
    {"*bernoulli*", random},
    {"*uniform*", random},
    {"*aten::normal*", random},
    {"*aten::rand*", random},
    {"*multinomial*", random},
    {"*exponential_", random},
    {"*relu*", activation},
    {"*gelu*", activation},
    {"*silu*", activation},
    {"*swish*", activation},
    {"*aten::*sigmoid*", activation},
    {"*sigmoidbackward*", activation},
    {"*aten::*tanh*", activation},
    {"*tanhbackward*", activation},
    {"*threshold_backward*", activation},
    {"*hardtanh*", activation},
    {"*aten::*elu*", activation},
    {"*mish*", activation},
    {"*softplus*", activation},
    {"*clamp_min*", activation},
    {"*aten::glu*", activation},
    {"*aten::copy_*", copy},
    {"*_to_copy*", copy},
    {"*tocopybackward*", copy},
    {"aten::to", copy},
    {"aten::clone", copy},
    {"aten::contiguous", copy},
    {"*copybackwards*", copy},
    {"*clonebackward*", copy},
    {"aten::item", copy},
    {"aten::_local_scalar_dense", copy},
    {"aten::pin_memory", copy},
    {"aten::cat", data_movement},
    {"aten::_chunk_cat", data_movement},
    {"aten::split_with_sizes_copy", data_movement},
    {"aten::_cat", data_movement},
    {"*catbackward*", data_movement},
    {"aten::*index*", data_movement},
    {"*indexbackward*", data_movement},
    {"aten::*gather*", data_movement},
    {"aten::*scatter*", data_movement},
    {"aten::*stack*", data_movement},
    {"aten::*transpose*", data_movement},
    {"aten::permute*", data_movement},
    {"aten::flip", data_movement},
    {"aten::roll", data_movement},
    {"aten::*pad*", data_movement},
    {"aten::tri*", data_movement},
    {"aten::masked_select", data_movement},
    {"aten::nonzero", data_movement},
    {"aten::unfold*", data_movement},
    {"aten::repeat*", data_movement},
    {"aten::*sort*", data_movement},
    {"aten::topk", data_movement},
    {"aten::select_backward", data_movement},
    {"aten::slice_backward", data_movement},
    {"aten::*upsample*", data_movement},
    {"aten::*interpolate*", data_movement},
    {"aten::take*", data_movement},
    {"aten::narrow*", data_movement},
    {"aten::sum*", reduction},
    {"aten::mean*", reduction},
    {"aten::*norm", reduction},
    {"aten::*linalg_vector_norm*", reduction},
    {"aten::max", reduction},
    {"aten::min", reduction},
    {"aten::amax*", reduction},
    {"aten::amin*", reduction},
    {"aten::argm*", reduction},
    {"aten::any", reduction},
    {"aten::all", reduction},
    {"aten::cumsum*", reduction},
    {"aten::prod*", reduction},
    {"aten::var*", reduction},
    {"aten::std*", reduction},
    {"aten::logsumexp", reduction},
    {"aten::count_nonzero", reduction},
    {"aten::_unique*", reduction},
    {"aten::add*", elementwise},
    {"aten::sub*", elementwise},
    {"aten::rsub*", elementwise},
    {"aten::mul*", elementwise},
    {"aten::div*", elementwise},
    {"aten::neg*", elementwise},
    {"aten::exp*", elementwise},
    {"aten::log*", elementwise},
    {"aten::sqrt*", elementwise},
    {"aten::rsqrt*", elementwise},
    {"aten::pow*", elementwise},
    {"aten::square*", elementwise},
    {"aten::abs*", elementwise},
    {"aten::sin*", elementwise},
    {"aten::cos*", elementwise},
    {"aten::erf*", elementwise},
    {"aten::where*", elementwise},
    {"aten::masked_fill*", elementwise},
    {"aten::clamp*", elementwise},
    {"aten::fill*", elementwise},
    {"aten::zero*", elementwise},
    {"aten::ones*", elementwise},
    {"aten::full*", elementwise},
    {"aten::arange*", elementwise},
    {"aten::lerp*", elementwise},
    {"aten::eq*", elementwise},
    {"aten::ne*", elementwise},
    {"aten::lt*", elementwise},
    {"aten::le*", elementwise},
    {"aten::gt*", elementwise},
    {"aten::ge*", elementwise},
    {"aten::bitwise*", elementwise},
    {"aten::logical*", elementwise},
    {"aten::__*__", elementwise},
    {"aten::reciprocal*", elementwise},
    {"aten::maximum*", elementwise},
    {"aten::minimum*", elementwise},
    {"aten::remainder*", elementwise},
    {"aten::floor*", elementwise},
    {"aten::ceil*", elementwise},
    {"aten::round*", elementwise},
    {"aten::sign*", elementwise},
    {"aten::isnan*", elementwise},
    {"aten::isfinite*", elementwise},
    {"aten::isinf*", elementwise},
    {"aten::addcmul*", elementwise},
    {"aten::addcdiv*", elementwise},
    {"aten::nan_to_num*", elementwise},
    {"aten::linspace*", elementwise},
    {"aten::complex*", elementwise},
    {"aten::detach*", elementwise},
    {"aten::view_as_*", elementwise},
};

// Class names of modules.
constexpr Pattern kModules[] = {
    {"*attention*", attention},
    {"*rotary*", elementwise},
    {"*conv*", convolution},
    {"*batchnorm*", normalisation},
    {"*layernorm*", normalisation},
    {"*groupnorm*", normalisation},
    {"*rmsnorm*", normalisation},
    {"*instancenorm*", normalisation},
    {"*embedding*", embedding},
    {"*pool1d*", pooling},
    {"*pool2d*", pooling},
    {"*pool3d*", pooling},
    {"*pooling*", pooling},
    {"*loss", loss},
    {"*softmax*", softmax},
    {"*linear", matmul},
    {"conv1d", matmul},
    {"*lstm*", recurrent},
    {"*gru", recurrent},
    {"rnn*", recurrent},
    {"*dropout*", random},
    {"*relu*", activation},
    {"*gelu*", activation},
    {"*silu*", activation},
    {"*sigmoid", activation},
    {"*tanh", activation},
    {"*elu", activation},
    {"hardswish", activation},
    {"flatten", data_movement},
    {"upsample*", data_movement},
};

// Kernel names: cuDNN, cuBLAS, CUTLASS, PyTorch, Triton templates, XLA, ROCm.
constexpr Pattern kKernels[] = {
    {"*nccl*", communication},
    {"*rccl*", communication},
    {"*nvshmem*", communication},
    {"*all_reduce*", communication},
    {"*allreduce*", communication},
    {"*flash*attn*", attention},
    {"*flash_fwd*", attention},
    {"*flash_bwd*", attention},
    {"*flashattn*", attention},
    {"*fmha*", attention},
    {"*attention*", attention},
    {"*attn_fwd*", attention},
    {"*attn_bwd*", attention},
    {"*_sdpa_*", attention},
    {"*flex_attention*", attention},
    {"*attn*", attention},
    {"*prefillwith*kvcache*", attention},
    {"*decodewith*kvcache*", attention},
    {"*kvcache*", data_movement},
    {"*kv_cache*", data_movement},
    {"*rotary*", elementwise},
    {"*subtensorop*", elementwise},
    {"*nchwtonhwc*", data_movement},
    {"*nhwctonchw*", data_movement},
    {"*nchw2nhwc*", data_movement},
    {"*nhwc2nchw*", data_movement},
    {"*implicit_gemm*", convolution},
    {"*implicitgemm*", convolution},
    {"*fprop*", convolution},
    {"*dgrad*", convolution},
    {"*wgrad*", convolution},
    {"*convolve*", convolution},
    {"*winograd*", convolution},
    {"*conv2d*", convolution},
    {"*conv3d*", convolution},
    {"*conv1d*", convolution},
    {"*conv_depthwise*", convolution},
    {"*convolution*", convolution},
    {"*miopen*conv*", convolution},
    {"igemm_*", convolution},
    {"*im2col*", convolution},
    {"*im3d2col*", convolution},
    {"*col2im*", convolution},
    {"*naive_conv*", convolution},
    {"*scudnn*", convolution},
    {"*cudnn_*_convolve*", convolution},
    {"*batch_norm*", normalisation},
    {"*batchnorm*", normalisation},
    {"*bn_fw*", normalisation},
    {"*bn_bw*", normalisation},
    {"*layer_norm*", normalisation},
    {"*layernorm*", normalisation},
    {"*group_norm*", normalisation},
    {"*rms_norm*", normalisation},
    {"*rmsnorm*", normalisation},
    {"*gammabetabackward*", normalisation},
    {"*rowwisemoments*", normalisation},
    {"*nll_loss*", loss},
    {"*cross_entropy*", loss},
    {"*_loss_*", loss},
    {"*softmax*", softmax},
    {"*embedding*", embedding},
    {"*linearize_index*", embedding},
    {"*bounds_check_indices*", embedding},
    {"*jagged*", data_movement},
    {"*max_pool*", pooling},
    {"*avg_pool*", pooling},
    {"*maxpool*", pooling},
    {"*avgpool*", pooling},
    {"*pooling*", pooling},
    {"*multi_tensor_apply*", optimiser},
    {"*multitensorapply*", optimiser},
    {"*adam*", optimiser},
    {"*lstm*", recurrent},
    {"*rnn_*", recurrent},
    {"*gemm*", matmul},
    {"nvjet*", matmul},
    {"*cutlass*", matmul},
    {"*cijk_*", matmul},
    {"*gemv*", matmul},
    {"*splitkreduce*", matmul},
    {"*wmma*", matmul},
    {"*quantize_*", copy},
    {"*_quant_kernel*", copy},
    {"bmm_*", matmul},
    {"*grouped_mm*", matmul},
    {"*dot_kernel*", matmul},
    {"*matmul*", matmul},
    {"triton_tem_fused_*mm*", matmul},
    {"*s884*", matmul},
    {"*s1688*", matmul},
    {"*s16816*", matmul},
    {"*dropout*", random},
    {"*philox*", random},
    {"*distribution_*", random},
    {"*curand*", random},
    {"*rng_*", random},
    {"*relu*", activation},
    {"*threshold_kernel*", activation},
    {"*gelu*", activation},
    {"*silu*", activation},
    {"*sigmoid*", activation},
    {"*tanh*", activation},
    {"*catarray*", data_movement},
    {"*chunk_cat*", data_movement},
    {"*split_with_sizes*", data_movement},
    {"*page_indices*", data_movement},
    {"*transpose*", data_movement},
    {"*index*kernel*", data_movement},
    {"*gather*", data_movement},
    {"*scatter*", data_movement},
    {"*concat*", data_movement},
    {"*routing*", data_movement},
    {"*topk*", data_movement},
    {"*reshape_and_cache*", data_movement},
    {"*sort*", data_movement},
    {"*permute*", data_movement},
    {"*pad_kernel*", data_movement},
    {"*dynamic_slice*", data_movement},
    {"*dynamic_update_slice*", data_movement},
    {"*bfloat16_copy*", copy},
    {"*float16_copy*", copy},
    {"*direct_copy_kernel*", copy},
    {"*copy_kernel*", copy},
    {"*copybuffer*", copy},
    {"*fillbuffer*", copy},
    {"*convert*fusion*", copy},
    {"wrapped_convert*", copy},
    {"*copy_fusion*", copy},
    {"memcpy*", copy},
    {"memset*", copy},
    {"*reduce_kernel*", reduction},
    {"*reduce_fusion*", reduction},
    {"input_*fusion*", reduction},
    {"*cub::*reduce*", reduction},
    {"wrapped_reduce*", reduction},
    {"*scan*", reduction},
    {"*reduce_segments*", reduction},
    {"*_sum_*rows*", reduction},
    {"*reduction*", reduction},
    {"*elementwise*", elementwise},
    {"loop_*fusion*", elementwise},
    {"*fusion*", elementwise},
    {"wrapped_*", elementwise},
    {"*fillfunctor*", elementwise},
};

// A fused Triton kernel (triton_poi_, triton_red_, triton_per_) computes around the named
// operations, never the matrix product or convolution itself: those names only say what the kernel
// sits next to.
constexpr Pattern kTritonFused[] = {
    {"*batch_norm*", normalisation},
    {"*layer_norm*", normalisation},
    {"*group_norm*", normalisation},
    {"*rms_norm*", normalisation},
    {"*nll_loss*", loss},
    {"*cross_entropy*", loss},
    {"*_loss*", loss},
    {"*softmax*", softmax},
    {"*embedding*", embedding},
    {"*pool2d*", pooling},
    {"*max_pool*", pooling},
    {"*avg_pool*", pooling},
    {"*dropout*", random},
    {"*bernoulli*", random},
    {"*gelu*", activation},
    {"*relu*", activation},
    {"*silu*", activation},
    {"*sigmoid*", activation},
    {"*tanh*", activation},
    {"*threshold_backward*", activation},
    {"*_foreach_*", optimiser},
    {"triton_red_*", reduction},
    {"triton_per_*", reduction},
    {"*fused_add_copy_*", elementwise},
    {"*_cat_*", data_movement},
    {"*transpose*", data_movement},
    {"*index*", data_movement},
    {"triton_*", elementwise},
};

/// Libraries whose names hold the word of a layer type ("gemm") without being one.
constexpr std::string_view kLibraries[] = {"fbgemm"};

LayerType first_fit(std::span<const Pattern> patterns, std::string_view name) {
  std::string lower = lower_case(name);
  for (const auto library : kLibraries)
    for (auto at = lower.find(library); at != std::string::npos; at = lower.find(library, at))
      lower.erase(at, library.size());
  for (const auto& pattern : patterns)
    if (glob_match(pattern.glob, lower)) return pattern.type;
  return other;
}

bool is_triton_fused(std::string_view name) {
  return name.starts_with("triton_poi_") || name.starts_with("triton_red_") ||
         name.starts_with("triton_per_");
}

/// "triton_poi_fused__to_copy_view_3": every operation in it only copies, converts or reshapes.
/// With arithmetic beside them the cast costs nothing of its own.
bool only_copies(std::string_view name) {
  static constexpr std::string_view kStart = "triton_poi_fused_";
  static constexpr std::string_view kWords[] = {
      "to",     "copy",       "clone",     "view",   "unsafe",  "permute", "transpose",
      "t",      "squeeze",    "unsqueeze", "expand", "reshape", "select",  "slice",
      "detach", "contiguous", "alias",     "as",     "strided"};
  if (!name.starts_with(kStart)) return false;
  bool copies = false;
  for (auto rest = name.substr(kStart.size()); !rest.empty();) {
    const auto end = std::min(rest.find('_'), rest.size());
    const auto word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word.find_first_not_of("0123456789") == std::string_view::npos) continue;
    if (std::ranges::find(kWords, word) == std::end(kWords)) return false;
    copies |= word == "copy" || word == "clone";
  }
  return copies;
}

LayerType layer_of_fused(std::string_view name) {
  if (only_copies(name)) return copy;
  return first_fit(kTritonFused, name);
}

constexpr std::uint32_t set_of(std::initializer_list<LayerType> types) {
  std::uint32_t bits = 0;
  for (const auto type : types) bits |= 1u << static_cast<unsigned>(type);
  return bits;
}

// For each outer type the inner types it takes over.
constexpr std::uint32_t takes_over(LayerType outer) {
  constexpr std::uint32_t simple = set_of({elementwise, reduction, data_movement});
  switch (outer) {
    case attention:
      return simple | set_of({matmul, softmax, random, activation});
    case convolution:
      return simple | set_of({matmul});
    case normalisation:
    case pooling:
      return simple;
    case matmul:
      return set_of({elementwise, reduction});
    case loss:
      return simple | set_of({softmax});
    case embedding:
      return simple;
    case recurrent:
      return simple | set_of({matmul, activation, random});
    case optimiser:
      return simple | set_of({matmul, activation});
    case softmax:
      return set_of({elementwise, reduction});
    default:
      return 0;
  }
}

}  // namespace

LayerType layer_of_operation(std::string_view name) {
  if (is_triton_fused(name)) return layer_of_fused(name);
  if (name.starts_with("triton_")) return layer_of_kernel(name);
  return first_fit(kOperations, name);
}

LayerType layer_of_module(std::string_view path) {
  auto name = path.substr(path.find_last_of('.') + 1);
  if (const auto number = name.find_last_of('_'); number != std::string_view::npos)
    name = name.substr(0, number);
  return first_fit(kModules, name);
}

LayerType layer_of_kernel(std::string_view name) {
  if (is_triton_fused(name)) return layer_of_fused(name);
  return first_fit(kKernels, name);
}

bool outer_decides(LayerType outer, LayerType inner) {
  return takes_over(outer) >> static_cast<unsigned>(inner) & 1u;
}

}  // namespace gf
