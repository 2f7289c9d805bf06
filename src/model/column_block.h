// Some thousand values of one column as bytes of a capture file. Numbers are little-endian:
//
//   byte 0       0: v[i] = base + u[i];  1: v[i] = v[i-1] + base + u[i], the first from `before`
//   byte 1       bytes of one u: 0 (every u is 0), 1, 2, 4 or 8, without sign
//   byte 2       0: the u follow as they are;  1: as one zstd frame
//   bytes 3-10   base;  bytes 11-18  before (signed; sums wrap around)
//
// A real number is the integer of its bits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace gf {

inline constexpr std::size_t kMostBlockRows = 1 << 20;  // one of more is none of ours

class ColumnPacker {
 public:
  ColumnPacker();
  ~ColumnPacker();
  ColumnPacker(const ColumnPacker&) = delete;
  std::string pack(std::span<const std::int64_t> values);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::string plain_;
};

/// With memory that is used again from block to block.
class ColumnUnpacker {
 public:
  ColumnUnpacker();
  ~ColumnUnpacker();
  ColumnUnpacker(const ColumnUnpacker&) = delete;
  /// False: these bytes are no block of so many values, of which there may be kMostBlockRows.
  bool unpack(std::string_view data, std::span<std::int64_t> values);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::string plain_;
};

}  // namespace gf
