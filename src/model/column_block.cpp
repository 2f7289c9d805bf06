#include "model/column_block.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace gf {

namespace {

using I64 = std::int64_t;
using U64 = std::uint64_t;

constexpr std::size_t kHeader = 19;
constexpr int kLevel = 1;  // of zstd: reads as fast as any, and packs fastest

/// Differences and sums wrap around, so that every pair of values survives.
constexpr I64 minus(I64 left, I64 right) {
  return static_cast<I64>(static_cast<U64>(left) - static_cast<U64>(right));
}
constexpr I64 plus(I64 left, U64 right) { return static_cast<I64>(static_cast<U64>(left) + right); }

struct Range {
  I64 low = 0, high = 0;
  U64 span() const { return static_cast<U64>(minus(high, low)); }
  void take(I64 value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

unsigned width_of(U64 span) {
  if (span == 0) return 0;
  if (span <= UINT8_MAX) return 1;
  if (span <= UINT16_MAX) return 2;
  return span <= UINT32_MAX ? 4 : 8;
}

template <class U>
void put_values(std::string& out, std::span<const I64> values, I64 base) {
  out.resize(values.size() * sizeof(U));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto unit = static_cast<U>(minus(values[i], base));
    std::memcpy(out.data() + i * sizeof unit, &unit, sizeof unit);
  }
}
template <class U>
void put_differences(std::string& out, std::span<const I64> values, I64 base) {
  out.resize(values.size() * sizeof(U));
  I64 last = values[0];
  for (std::size_t i = 0; i < values.size(); ++i) {
    // The first difference is base, whatever came before.
    const auto unit = static_cast<U>(i == 0 ? 0 : minus(minus(values[i], last), base));
    last = values[i];
    std::memcpy(out.data() + i * sizeof unit, &unit, sizeof unit);
  }
}

/// apply(U{}) with the unsigned integer of so many bytes.
template <class F>
void with_width(unsigned width, F&& apply) {
  if (width == 1) apply(std::uint8_t{});
  if (width == 2) apply(std::uint16_t{});
  if (width == 4) apply(std::uint32_t{});
  if (width == 8) apply(std::uint64_t{});
}

template <class U>
U unit_at(const char* data, std::size_t i) {
  U unit;
  std::memcpy(&unit, data + i * sizeof unit, sizeof unit);
  return unit;
}

}  // namespace

void ColumnPacker::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
ColumnPacker::ColumnPacker() : context_(ZSTD_createCCtx()) {}
ColumnPacker::~ColumnPacker() = default;

std::string ColumnPacker::pack(std::span<const I64> values) {
  if (values.empty()) return {};
  Range range{values[0], values[0]}, step{};
  if (values.size() > 1) step = {minus(values[1], values[0]), minus(values[1], values[0])};
  for (std::size_t i = 1; i < values.size(); ++i) {
    range.take(values[i]);
    step.take(minus(values[i], values[i - 1]));
  }
  const bool differences = step.span() < range.span() / 4;
  const I64 base = differences ? step.low : range.low;
  const unsigned width = width_of(differences ? step.span() : range.span());
  plain_.clear();
  with_width(width, [&]<class U>(U) {
    if (differences)
      put_differences<U>(plain_, values, base);
    else
      put_values<U>(plain_, values, base);
  });
  std::string out(kHeader + ZSTD_compressBound(plain_.size()), '\0');
  const std::size_t packed =
      ZSTD_compressCCtx(context_.get(), out.data() + kHeader, out.size() - kHeader, plain_.data(),
                        plain_.size(), kLevel);
  const bool smaller = !ZSTD_isError(packed) && packed < plain_.size() - plain_.size() / 8;
  out.resize(kHeader + (smaller ? packed : plain_.size()));
  if (!smaller) std::copy(plain_.begin(), plain_.end(), out.begin() + kHeader);
  out[0] = static_cast<char>(differences);
  out[1] = static_cast<char>(width);
  out[2] = static_cast<char>(smaller);
  const I64 before = differences ? minus(values[0], base) : 0;
  std::memcpy(out.data() + 3, &base, sizeof base);
  std::memcpy(out.data() + 11, &before, sizeof before);
  return out;
}

void ColumnUnpacker::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }
ColumnUnpacker::ColumnUnpacker() : context_(ZSTD_createDCtx()) {}
ColumnUnpacker::~ColumnUnpacker() = default;

bool ColumnUnpacker::unpack(std::string_view data, std::span<I64> values) {
  if (data.size() < kHeader || values.empty() || values.size() > kMostBlockRows) return false;
  const auto differences = static_cast<unsigned char>(data[0]),
             width = static_cast<unsigned char>(data[1]),
             packed = static_cast<unsigned char>(data[2]);
  if (differences > 1 || packed > 1 || width > 8 || (width & (width - 1u)) != 0) return false;
  I64 base = 0, last = 0;
  std::memcpy(&base, data.data() + 3, sizeof base);
  std::memcpy(&last, data.data() + 11, sizeof last);
  data.remove_prefix(kHeader);
  const std::size_t size = width * values.size();
  if (packed == 1) {
    if (ZSTD_getFrameContentSize(data.data(), data.size()) != size) return false;
    plain_.resize(std::max(plain_.size(), size));
    if (ZSTD_decompressDCtx(context_.get(), plain_.data(), size, data.data(), data.size()) != size)
      return false;
    data = {plain_.data(), size};
  }
  if (data.size() != size) return false;
  if (width == 0 && differences == 0) std::fill(values.begin(), values.end(), base);
  if (width == 0 && differences == 1)
    for (I64& value : values) value = last = plus(last, static_cast<U64>(base));
  with_width(width, [&]<class U>(U) {
    if (differences == 0)
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = plus(base, unit_at<U>(data.data(), i));
    else
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = last = plus(last, static_cast<U64>(base) + unit_at<U>(data.data(), i));
  });
  return true;
}

}  // namespace gf
