// A compiled program of XLA as a profile holds it: HloProto, of which this reads what the work of
// each instruction follows from. Views point into the message.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gf::xplane {

/// A data type of XLA; `none` for tuples, tokens and types that nobody multiplies in.
struct HloType {
  std::string_view name;  // as the capture has it: "bf16"
  int bits = 0;
};
HloType hlo_type(std::uint64_t number);

struct HloShape {
  std::uint64_t type = 0;
  std::vector<std::int64_t> dims;  // of an array, or of the first part of a tuple
  double bytes = 0;                // all parts of a tuple together
  bool tuple = false;

  double elements() const;
  /// 1 for a dimension that is not there.
  double dim(std::int64_t which) const;
  double array_bytes() const;  // of the array, or the first part
};

struct HloWindowDimension {
  std::int64_t size = 1, stride = 1, padding_low = 0, window_dilation = 1, base_dilation = 1;
};

struct HloInstruction {
  std::string_view name, opcode, op_name, call_target, backend_config;
  std::uint64_t id = 0;
  std::int64_t parameter = 0;
  HloShape shape;
  std::vector<std::uint32_t> operands;  // places in the computation; kNoInstruction: not there
  std::vector<std::uint64_t> operand_ids, called;
  std::string_view window, convolution, dot;  // messages that few have, read where they are needed
  std::int64_t feature_groups = 1;
};
inline constexpr std::uint32_t kNoInstruction = UINT32_MAX;
inline constexpr int kDeepestCall = 64;  // computations that call each other

struct HloComputation {
  std::uint64_t id = 0, root_id = 0;
  std::uint32_t root = kNoInstruction;
  std::vector<HloInstruction> instructions;
  bool whole = true;                    // nothing in it was unreadable
  std::vector<std::uint32_t> schedule;  // places in the order of execution; empty: as they stand

  const HloInstruction* operand(const HloInstruction& instruction, std::size_t which) const {
    if (which >= instruction.operands.size()) return nullptr;
    const auto place = instruction.operands[which];
    return place < instructions.size() ? &instructions[place] : nullptr;
  }
};

struct HloModule {
  std::string_view name;
  std::int64_t id = -1;
  std::uint64_t entry_id = 0;
  std::vector<HloComputation> computations;
  std::unordered_map<std::uint64_t, std::uint32_t> by_id;  // places of computations
  std::int64_t damaged = 0;  // instructions or computations that cannot be read

  const HloComputation* computation(std::uint64_t which) const {
    const auto at = by_id.find(which);
    return at == by_id.end() ? nullptr : &computations[at->second];
  }
};

/// Never fails: what cannot be read is counted in `damaged`.
HloModule read_hlo(std::string_view proto);

struct HloConvolution {
  std::int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  std::vector<std::int64_t> kernel_spatial, input_spatial, output_spatial;
};
struct HloDot {
  std::vector<std::int64_t> left_contracting, left_batch;
};
// These throw protozero::exception on damaged bytes.
std::vector<HloWindowDimension> read_window(std::string_view message);
HloConvolution read_convolution(std::string_view message);
HloDot read_dot(std::string_view message);

}  // namespace gf::xplane
