// What makes two runs comparable or not, read from the captures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyze/result.h"
#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

struct RunFacts {
  std::optional<std::int64_t> batch;   // items of a step, by recorded sizes
  std::string_view items;              // what they are: sequences, images, ...
  std::optional<std::int64_t> tokens;  // of a step, where items are sequences
  std::string precision;               // "bf16", "tf32 and fp32"; empty: not known
  std::string profiler;                // "kineto with shapes and stacks"
  std::optional<std::int64_t> rank, world_size;
  Interval extent;  // on the capture's clock
};

RunFacts run_facts(const Capture& capture, const Analysis& analysis);

/// The type in which a matrix product's kernel reads its operands, by its name: fp4, fp8, int8,
/// bf16, fp16, tf32, fp64 or fp32; empty when the name does not say.
std::string_view precision_of_kernel(std::string_view name);

}  // namespace gf
