// Traits of a product by its kernel's name: tile, data type, pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyze/vocabulary.h"
#include "analyze/work/rules.h"
#include "model/chips.h"

namespace gf::work {

struct Tile {
  std::int64_t m = 0, n = 0, k = 0;  // k 0: not known
};

/// "tilesize128x64x32", "_256x128_64x4_" (the last number counts stages), "256x128".
std::optional<Tile> tile_of(std::string_view kernel);

/// Operations that a kernel carries out for a product when its tiles must cover the whole result
/// and the whole depth. Which side of the result a tile's first number stands for depends on the
/// layout: the smaller of both is taken, which is a lower bound.
double covered_flops(const Product& product, const Tile& tile);

// By the word of a kernel's name.

/// Kernels that multiply matrices, convolve or attend. Those that only reduce the parts of a split
/// product do not.
bool multiplies(NameWord is);
/// True for kernels that load one or two elements at a time because of odd sizes; FP32 kernels
/// always may.
bool loads_unaligned(NameWord is);
/// The pass of a convolution that the name says: dgrad, wgrad; whole without a word.
Product::Part part_of(NameWord is);

/// The data type that products of such operands run in: FP32 operands are multiplied as TF32 by
/// kernels that say so. None for types without products.
Element number_type(Element operands, NameWord is);
/// The same as the chip list has it; nullopt for fp32, which tensor cores do not take.
std::optional<TensorType> tensor_type(std::string_view number_type);

}  // namespace gf::work
