// Finds a chip's counters for the features of the energy model, by the catalog of chips, and
// which features merge where one is missing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/chips.h"

namespace gf {

/// A feature without a counter of its own: what it takes is part of another one.
struct MergedFeature {
  std::string_view feature, into;
  std::string_view why;
};

struct ChipEnergyCounters {
  std::vector<std::string> names;     // for the command line of a profiler, sorted
  std::vector<MergedFeature> merged;  // in the order of the features
};

ChipEnergyCounters energy_counters_of(ChipId chip);

/// The counters of a tensor type on chips that do not tell warps' products from warpgroups': sums
/// of "a.sum + b.sum". Every spelling that some chip has.
std::vector<std::string> tensor_expressions(TensorType type);

/// The tensor types that are features, and the feature where paths are not told apart.
struct TensorFeature {
  TensorType type;
  std::string_view feature;
};
inline constexpr TensorFeature kTensorFeatures[] = {
    {TensorType::bf16, "tensor.bf16.mma"}, {TensorType::fp16, "tensor.fp16.mma"},
    {TensorType::tf32, "tensor.tf32.mma"}, {TensorType::fp8, "tensor.fp8"},
    {TensorType::int8, "tensor.int8.mma"}, {TensorType::fp64, "tensor.fp64"}};

}  // namespace gf
