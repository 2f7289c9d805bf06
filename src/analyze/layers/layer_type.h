// The layer type that a name stands for; the tables of names are in patterns_of_*.cpp.
#pragma once

#include <span>
#include <string_view>

#include "analyze/names.h"

namespace gf {

/// By the name of a framework operation; other when no pattern fits.
LayerType layer_of_operation(std::string_view name);
/// By a module path: the class of its innermost module.
LayerType layer_of_module(std::string_view path);
/// By the name of a kernel: the fallback for compiled graphs and traces without host side.
LayerType layer_of_kernel(std::string_view name);

/// "Cast" of "dense/einsum/Cast:Cast", as TensorFlow names the operation of a kernel; empty for
/// other texts.
std::string_view type_in_scope(std::string_view scope);

/// True when an operation of type `outer` around one of type `inner` decides the type: the matrix
/// product inside an attention is Attention, the softmax inside a cross entropy is Loss. A cast or
/// copy stays a Copy everywhere.
bool outer_decides(LayerType outer, LayerType inner);

// The tables of names that lead to layer types. The first pattern that fits decides; names are
// compared in lower case.

struct LayerPattern {
  std::string_view glob;  // lower case
  LayerType type;
};

std::span<const LayerPattern> operation_patterns();
/// Class names of modules.
std::span<const LayerPattern> module_patterns();
/// Kernel names: cuDNN, cuBLAS, CUTLASS, PyTorch, Triton templates, XLA, ROCm.
std::span<const LayerPattern> kernel_patterns();
/// A fused Triton kernel (triton_poi_, triton_red_, triton_per_) computes around the named
/// operations, never the matrix product or convolution itself: those names only say what the kernel
/// sits next to.
std::span<const LayerPattern> fused_triton_patterns();

}  // namespace gf
