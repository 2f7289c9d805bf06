// Attention written out as single operations: a batched product, a softmax and a batched product
// follow each other with nothing but elementwise work between them.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "analyze/context.h"

namespace gf {

/// Finds it in the order in which kernels were launched.
class EagerAttention {
 public:
  explicit EagerAttention(const Context& context);

  /// Sequences found.
  std::int64_t count() const { return count_; }
  /// True if a kernel belongs to one, those between the products and of the backward pass included.
  bool holds(const KernelInstance& kernel) const;

 private:
  enum class Part { batched_product, product, softmax, between };
  static Part part_of(NameWord operation);
  template <class Use>
  bool any_outward(std::uint32_t op, Use&& use) const;
  void take_around(const std::vector<std::size_t>& order, const std::vector<Part>& parts,
                   std::size_t softmax);

  Text operation(const KernelInstance& kernel) const;
  bool in_backward(const KernelInstance& kernel) const;

  const Context& context_;
  std::int64_t count_ = 0;
  std::unordered_set<std::uint32_t> kernels_, operations_;
};

}  // namespace gf
