// The least work of a compiled program's instruction, from its shapes: operations and
// bytes. docs/work.md has the rules. Counts are those of XLA's own cost analysis, which knows
// nothing of what libraries are called for, and takes each loop for one round: here it has as many
// as the compiler knows, and is unknown where it knows none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "import/xplane/hlo_module.h"

namespace gf::xplane {

/// `batch` products of m x k by k x n.
struct HloProduct {
  double batch = 1, m = 0, n = 0, k = 0;
  double flops() const { return 2 * batch * m * n * k; }
};

enum class HloWork : std::uint8_t {
  unknown,  // it calls something that nothing is known of
  data_movement,
  elementwise,
  reduction,
  product,
  convolution,
  attention
};

struct HloCost {
  std::vector<HloProduct> products;
  double product_flops = 0, recomputed = 0, other = 0, transcendental = 0;
  HloWork work = HloWork::data_movement;
  std::string_view type;              // of what is multiplied, else empty
  std::vector<std::string> operands;  // sizes of the operands of the largest product

  /// `times` may be 0.
  void add(const HloCost& other, double times);
};

template <std::size_t kCount>
bool one_of(const std::string_view (&names)[kCount], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}
/// "add", "exponential", "convert": each result element follows from one of each operand.
bool one_result_an_element(std::string_view opcode);

/// Products of one instruction, or nothing: dot, convolution, and calls of cuBLAS and cuDNN.
/// Throws protozero::exception on damaged bytes.
HloCost product_cost(const HloComputation& computation, const HloInstruction& instruction);

/// Costs of a module's instructions; what a computation costs is worked out once. Computations that
/// call themselves, or each other too deeply, are damage.
class HloCosts {
 public:
  explicit HloCosts(const HloModule& module) : module_(module) {}

  HloCost of(const HloComputation& computation, const HloInstruction& instruction) {
    return instruction_cost(computation, instruction, 0);
  }
  /// Read and written at least.
  double bytes(const HloComputation& computation, const HloInstruction& instruction);
  std::int64_t damaged() const { return damaged_; }

 private:
  HloCost instruction_cost(const HloComputation& computation, const HloInstruction& instruction,
                           int depth);
  HloCost own_cost(const HloComputation& computation, const HloInstruction& instruction, int depth);
  const HloCost& computation_cost(std::uint64_t id, int depth);
  const HloCost& called(const HloInstruction& instruction, std::size_t which, int depth);
  struct FusedBytes {
    std::vector<double> read;  // of each parameter
    double written = 0;
  };
  const FusedBytes& fused_bytes(std::uint64_t id, int depth);
  double read_bytes(const HloComputation& computation, const HloInstruction& instruction);

  const HloModule& module_;
  std::unordered_map<std::uint64_t, HloCost> costs_;
  std::unordered_set<std::uint64_t> open_;  // computations that are being worked out
  std::unordered_map<std::uint64_t, FusedBytes> fused_;
  std::int64_t damaged_ = 0;
};

}  // namespace gf::xplane
