// Samples of several metrics over the same spans, packed: a counter sampler makes thousands of values a second, and as
// rows of counter_samples they would fill a disk. In the capture file a block is one row of sample_blocks; readers turn it
// into rows of counter_samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/tables.h"

namespace gf {

struct SampleBlock {
  std::uint32_t device = kNoRow;    // row of devices
  std::vector<Text> metrics;
  std::vector<I64> start_ns, end_ns;  // one each for every sample
  std::vector<float> values;        // sample by sample, metrics in order; NaN: no data
  std::size_t samples() const { return start_ns.size(); }
  bool empty() const { return start_ns.empty(); }
  void clear() { start_ns.clear(), end_ns.clear(), values.clear(); }
};

/// zstd over: varints of start (difference to the sample before's end) and length (difference to the length before), then
/// the values metric by metric, their bytes in planes.
std::string pack(const SampleBlock& block);
/// The spans and values of a packed block with this many metrics and samples; empty when the bytes are damaged.
std::optional<SampleBlock> unpack(std::string_view bytes, std::size_t metrics, std::size_t samples);

/// Adds the block's values, NaN left out, as rows.
void expand(const SampleBlock& block, counter_samples_table& rows);

}  // namespace gf
