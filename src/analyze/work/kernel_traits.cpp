#include "analyze/work/kernel_traits.h"

#include <algorithm>
#include <cmath>

#include "analyze/traits.h"

namespace gf::work {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// The number at `at`, which moves behind it; -1 when there is none of up to four digits.
std::int64_t number_at(std::string_view text, std::size_t& at) {
  std::int64_t value = 0;
  std::size_t digits = 0;
  while (at < text.size() && is_digit(text[at]) && digits < 5) {
    value = value * 10 + (text[at] - '0');
    ++at;
    ++digits;
  }
  return digits == 0 || digits == 5 ? -1 : value;
}

bool plausible_side(std::int64_t side) { return side >= 8 && side <= 1024 && side % 8 == 0; }

}  // namespace

std::optional<Tile> tile_of(std::string_view kernel) {
  for (std::size_t from = 0; from < kernel.size(); ++from) {
    const bool begins = is_digit(kernel[from]) && (from == 0 || !is_digit(kernel[from - 1]));
    if (!begins) continue;
    std::size_t at = from;
    Tile tile;
    tile.m = number_at(kernel, at);
    if (tile.m < 0 || at >= kernel.size() || kernel[at] != 'x') continue;
    ++at;
    tile.n = number_at(kernel, at);
    if (!plausible_side(tile.m) || !plausible_side(tile.n)) continue;
    if (at + 1 < kernel.size() && (kernel[at] == 'x' || kernel[at] == '_')) {
      const bool third = kernel[at] == 'x';
      ++at;
      const auto depth = number_at(kernel, at);
      // After an underline a depth is followed by a count of stages: 64x4.
      const bool stages = at < kernel.size() && kernel[at] == 'x';
      if (depth > 0 && depth <= 512 && (third || stages)) tile.k = depth;
    }
    return tile;
  }
  return std::nullopt;
}

double covered_flops(const Product& product, const Tile& tile) {
  auto up = [](double size, std::int64_t side) {
    return side > 0 ? std::ceil(size / static_cast<double>(side)) * static_cast<double>(side)
                    : size;
  };
  const double depth = up(product.k, tile.k);
  const double area = std::min(up(product.m, tile.m) * up(product.n, tile.n),
                               up(product.m, tile.n) * up(product.n, tile.m));
  return 2 * product.batch * area * depth;
}

bool multiplies(NameWord is) {
  return is & kernel_is::product && !(is & kernel_is::beside_product);
}

bool loads_unaligned(NameWord is) {
  return is & kernel_is::narrow_loads && !(is & kernel_is::wide_loads) && is & kernel_is::gemm &&
         is & kernel_is::half_product && !(is & kernel_is::convolution_pass);
}

Product::Part part_of(NameWord is) {
  if (is & kernel_is::weight_gradient) return Product::Part::weight_gradient;
  if (is & kernel_is::input_gradient) return Product::Part::input_gradient;
  return Product::Part::whole;
}

Element number_type(Element operands, NameWord is) {
  switch (operands) {
    case Element::complex128:
      return Element::fp64;
    case Element::fp64:
    case Element::fp16:
    case Element::bf16:
    case Element::fp8:
    case Element::int8:
      return operands;
    case Element::complex64:
    case Element::fp32:
      return is & kernel_is::tf32 ? Element::tf32 : Element::fp32;
    default:
      return Element::none;
  }
}

std::optional<TensorType> tensor_type(std::string_view number_type) {
  for (std::size_t i = 0; i < kTensorTypes; ++i)
    if (name_of(static_cast<TensorType>(i)) == number_type) return static_cast<TensorType>(i);
  return std::nullopt;
}

}  // namespace gf::work
