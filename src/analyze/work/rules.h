// The least work of each operator of a framework, by the sizes of its inputs. One file a
// family; docs/work.md gives the formulas.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/work/names.h"
#include "analyze/work/operands.h"

namespace gf::work {

/// One matrix product inside an operator, or what a convolution is as one: `batch` products of
/// m x k by k x n.
struct Product {
  enum class Part : std::uint8_t { whole, input_gradient, weight_gradient };
  double batch = 1, m = 0, n = 0, k = 0;
  Part part = Part::whole;
  double flops() const { return 2 * batch * m * n * k; }
};

struct Work {
  double flops = 0;              // of products, a multiply-add is two
  double recomputed = 0;         // of these, what the kernel works out a second time
  double other_flops = 0;        // of everything else, one an element and step
  double bytes = 0;              // least: inputs read and outputs written once
  Element type = Element::none;  // of the operands that are multiplied, else of the first input
  std::vector<Product> products;
};

/// Facts of the program beside the call that a rule may need.
struct Program {
  double parameters = 0;  // elements, by the gradients that were accumulated in a step
  double parameter_bytes = 0;
};

struct Rule {
  std::string_view name;  // of the operator, in-place ("_") and out variants alike
  WorkFamily family;
  std::optional<Work> (*work)(const Call& call, const Program& program);
};

/// Work of these is counted as operations of products.
constexpr bool multiplying_family(WorkFamily family) {
  return family == WorkFamily::product || family == WorkFamily::convolution ||
         family == WorkFamily::attention;
}

std::span<const Rule> product_rules();
std::span<const Rule> convolution_rules();
std::span<const Rule> attention_rules();
std::span<const Rule> normalisation_rules();
std::span<const Rule> embedding_rules();
std::span<const Rule> optimiser_rules();
std::span<const Rule> pooling_rules();
std::span<const Rule> reduction_rules();
std::span<const Rule> elementwise_rules();
std::span<const Rule> movement_rules();
/// Kernels that torch.compile generates: any operation that is called triton_*.
std::optional<Work> fused_work(const Call& call);

/// The rule of an operator; nullptr when it has none. A name may be "aten::add_" or "add_".
const Rule* rule_of(std::string_view operation);

/// "aten::add_", which writes its first input.
bool is_in_place(std::string_view operation);

/// The entry of an axis in a list of settings, whose last one holds for the axes behind it.
double at_or(const std::vector<std::int64_t>& list, std::size_t axis, double otherwise);

/// Bytes of all tensors of a call, each read once.
double input_bytes(const Call& call);

}  // namespace gf::work
