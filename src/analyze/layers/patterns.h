// The tables of names that lead to layer types. The first pattern that fits decides; names are
// compared in lower case.
#pragma once

#include <span>
#include <string_view>

#include "analyze/names.h"

namespace gf {

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
