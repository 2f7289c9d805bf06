// The layer types, and the tables of names that lead to them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gf {

enum class LayerType : std::uint8_t {
  other,
  convolution,
  matmul,
  attention,
  normalisation,
  embedding,
  pooling,
  activation,
  elementwise,
  reduction,
  softmax,
  loss,
  recurrent,
  optimiser,
  communication,
  copy,
  data_movement,
  random,
  count
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(LayerType::count)>
    kLayerTypeNames{"Other",     "Convolution",   "MatMul",     "Attention",   "Normalisation",
                    "Embedding", "Pooling",       "Activation", "Elementwise", "Reduction",
                    "Softmax",   "Loss",          "Recurrent",  "Optimiser",   "Communication",
                    "Copy",      "Data movement", "Random"};
constexpr std::string_view name_of(LayerType type) {
  return kLayerTypeNames[static_cast<std::size_t>(type)];
}

/// By the name of a framework operation; other when no pattern fits.
LayerType layer_of_operation(std::string_view name);
/// By a module path: the class of its innermost module.
LayerType layer_of_module(std::string_view path);
/// By the name of a kernel: the fallback for compiled graphs and traces without host side.
LayerType layer_of_kernel(std::string_view name);

/// True when an operation of type `outer` around one of type `inner` decides the type: the matrix
/// product inside an attention is Attention, the softmax inside a cross entropy is Loss. A cast or
/// copy stays a Copy everywhere.
bool outer_decides(LayerType outer, LayerType inner);

}  // namespace gf
