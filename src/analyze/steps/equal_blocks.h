// Loops of blocks that are equal kernel by kernel, where nothing else tells what the blocks are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyze/result.h"
#include "analyze/steps/outer_loop.h"
#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

/// The longest run of equal blocks, with nothing between them.
struct EqualBlocks {
  std::vector<StepInfo> blocks;
  std::size_t kernels = 0;  // of each
  bool most_work = false;   // over half of the kernel time of their device
  Nanos before = 0;         // from the first activity to the first block
  Nanos all = 0;            // from the first activity to the end of the last one
};

/// Looks at the segments [cut[i], cut[i + 1]) of the sequence, whose times `segments` are; none:
/// under ten are equal.
std::optional<EqualBlocks> find_equal_blocks(const Capture& capture, const KernelOrder& sequence,
                                             std::span<const std::uint32_t> cut,
                                             std::span<const StepInfo> segments);

/// True if each of them must be an iteration: layers of a pass are few or have other work between.
bool are_steps(const EqualBlocks& found);

/// The loop that they make, where it begins after work that the program does once or ends before
/// other work: the span that advice is about.
std::optional<Interval> steady_loop(const EqualBlocks& found);

}  // namespace gf
