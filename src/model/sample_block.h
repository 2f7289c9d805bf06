// Samples of several metrics over the same spans, packed: a counter sampler makes thousands of
// values a second, and as rows of counter_samples an hour of them would fill memory and disk. The
// capture and its file hold them as blocks; counter_values.h gives the values of both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/tables.h"

struct ZSTD_DCtx_s;

namespace gf {

struct SampleBlock {
  std::uint32_t device = kNoRow;  // row of devices
  std::vector<Text> metrics;
  std::vector<I64> start_ns, end_ns;  // one each for every sample
  std::vector<float> values;          // sample by sample, metrics in order; NaN: no data
  std::size_t samples() const { return start_ns.size(); }
  bool empty() const { return start_ns.empty(); }
  void clear() {
    start_ns.clear();
    end_ns.clear();
    values.clear();
  }
};

/// A block as in the file. Unpacking it cannot fail, unless told_block (file_blocks.h) made it.
struct PackedBlock {
  std::uint32_t device = kNoRow;
  std::uint32_t samples = 0;
  std::vector<Text> metrics;
  std::string data;  // see pack
  I64 first_ns = 0,
      last_ns = 0;  // the earliest and the latest of its times: what decides whether to unpack it
  std::uint64_t values = 0;  // without those that are no data
  bool backwards = false;    // some sample ends before it starts
};

/// Data is zstd over: varints of start (difference to the sample before's end) and length
/// (difference to the length before), then the values metric by metric, their bytes in planes.
PackedBlock pack(const SampleBlock& block);

/// Unpacks blocks, one at a time, with memory that it uses again.
class BlockUnpacker {
 public:
  BlockUnpacker();
  ~BlockUnpacker();
  BlockUnpacker(const BlockUnpacker&) = delete;
  /// The samples of a block with those of its metrics that are `wanted` (none named: all of them),
  /// in the block's order.
  const SampleBlock& unpack(const PackedBlock& block, std::span<const Text> wanted = {});
  /// A block of these bytes, or nothing when they are not samples of so many metrics. Looks at
  /// every byte of them.
  std::optional<PackedBlock> checked_block(std::uint32_t device, std::vector<Text> metrics,
                                           std::uint64_t samples, std::string data);

 private:
  bool open(const PackedBlock& block);
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
  std::unique_ptr<char[]> raw_;
  std::size_t capacity_ = 0;
  const unsigned char* planes_ = nullptr;  // inside raw_, of the block opened last
  SampleBlock block_;
};

/// Adds the block's values, NaN left out, as rows.
void expand(const SampleBlock& block, counter_samples_table& rows);

// The end of a span, and the length between two times. Both wrap around, so that every pair of
// times survives.
inline I64 end_of(I64 start, I64 duration) {
  return static_cast<I64>(static_cast<std::uint64_t>(start) + static_cast<std::uint64_t>(duration));
}
inline I64 length_of(I64 start, I64 end) {
  return static_cast<I64>(static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start));
}

}  // namespace gf
