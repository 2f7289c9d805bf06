#include "analyze/work/kernel_traits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/text.h"

namespace gf::work {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool contains_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](auto word) { return text.find(word) != std::string_view::npos; });
}

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

bool multiplies(std::string_view kernel) {
  static constexpr std::array<std::string_view, 20> kProductWords{
      "gemm",   "nvjet",  "xmma",      "fprop",     "dgrad",      "wgrad",         "convolve",
      "conv2d", "conv3d", "winograd",  "gemv",      "flash_fwd",  "flash_bwd",     "fmha",
      "sdpa",   "_mm_",   "attention", "fft2d_r2c", "dot_kernel", "conv_depthwise"};
  static constexpr std::array<std::string_view, 9> kNot{
      "splitkreduce",  "reduce_kernel", "nchwtonhwc", "nhwctonchw", "elementwise",
      "compute_delta", "dot_do_o",      "convert",    "memset"};
  const std::string lower = lower_case(kernel);
  return contains_any(lower, kProductWords) && !contains_any(lower, kNot);
}

bool loads_unaligned(std::string_view kernel) {
  const std::string lower = lower_case(kernel);
  auto has = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  return (has("_align1") || has("_align2")) && !has("_align16") && has("gemm") &&
         (has("bf16") || has("_f16") || has("h1688") || has("h884") || has("h16816")) &&
         !has("fprop") && !has("dgrad") && !has("wgrad");
}

Product::Part part_of(std::string_view kernel) {
  const std::string lower = lower_case(kernel);
  if (lower.find("wgrad") != std::string::npos) return Product::Part::weight_gradient;
  if (lower.find("dgrad") != std::string::npos) return Product::Part::input_gradient;
  return Product::Part::whole;
}

Element number_type(Element operands, std::string_view kernel) {
  switch (operands) {
    case Element::fp64:
    case Element::fp16:
    case Element::bf16:
    case Element::fp8:
    case Element::int8:
      return operands;
    case Element::fp32: {
      const std::string lower = lower_case(kernel);
      const bool tf32 = lower.find("tf32") != std::string::npos ||
                        lower.find("s1688") != std::string::npos ||
                        lower.find("nvjet") != std::string::npos;
      return tf32 ? Element::tf32 : Element::fp32;
    }
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
