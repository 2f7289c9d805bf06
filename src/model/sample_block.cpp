#include "model/sample_block.h"

#include <zstd.h>

#include <cmath>
#include <cstring>

namespace gf {

namespace {

void put_signed(std::string& out, std::int64_t v) {
  auto u = (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
  for (; u >= 0x80; u >>= 7) out += static_cast<char>(u | 0x80);
  out += static_cast<char>(u);
}

bool get_signed(std::string_view& in, std::int64_t& v) {
  std::uint64_t u = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    u |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) {
      v = static_cast<std::int64_t>(u >> 1) ^ -static_cast<std::int64_t>(u & 1);
      return true;
    }
  }
  return false;
}

// Differences wrap around, so that every pair of times survives.
std::int64_t minus(std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)); }
std::int64_t plus(std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b)); }

}  // namespace

std::string pack(const SampleBlock& block) {
  const std::size_t n = block.samples(), m = block.metrics.size();
  std::string raw;
  std::int64_t end = 0, length = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t this_length = minus(block.end_ns[i], block.start_ns[i]);
    put_signed(raw, minus(block.start_ns[i], end));
    put_signed(raw, minus(this_length, length));
    end = block.end_ns[i];
    length = this_length;
  }
  const std::size_t values = raw.size();
  raw.resize(values + 4 * n * m);
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t i = 0; i < n; ++i) {
      unsigned char bytes[4];
      std::memcpy(bytes, &block.values[i * m + k], 4);
      for (std::size_t b = 0; b < 4; ++b) raw[values + (b * m + k) * n + i] = static_cast<char>(bytes[b]);
    }
  std::string out(ZSTD_compressBound(raw.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), 3);
  out.resize(ZSTD_isError(size) ? 0 : size);
  return out;
}

std::optional<SampleBlock> unpack(std::string_view bytes, std::size_t metrics, std::size_t samples) {
  const auto size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  constexpr std::uint64_t most = 1ull << 31;
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most || metrics > most || samples > most || size < 4 * metrics * samples) return {};
  std::string raw(size, '\0');
  if (ZSTD_decompress(raw.data(), raw.size(), bytes.data(), bytes.size()) != size) return {};
  SampleBlock block;
  std::string_view in(raw);
  std::int64_t end = 0, length = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    std::int64_t start = 0, change = 0;
    if (!get_signed(in, start) || !get_signed(in, change)) return {};
    start = plus(start, end);
    length = plus(length, change);
    end = plus(start, length);
    block.start_ns.push_back(start);
    block.end_ns.push_back(end);
  }
  if (in.size() != 4 * metrics * samples) return {};
  block.values.resize(metrics * samples);
  for (std::size_t k = 0; k < metrics; ++k)
    for (std::size_t i = 0; i < samples; ++i) {
      char value[4];
      for (std::size_t b = 0; b < 4; ++b) value[b] = in[(b * metrics + k) * samples + i];
      std::memcpy(&block.values[i * metrics + k], value, 4);
    }
  return block;
}

void expand(const SampleBlock& block, counter_samples_table& rows) {
  const std::size_t n = block.samples(), m = block.metrics.size();
  rows.reserve(rows.size() + n * m);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < m; ++k) {
      const float value = block.values[i * m + k];
      if (std::isnan(value)) continue;
      rows.start_ns.push_back(block.start_ns[i]);
      rows.duration_ns.push_back(minus(block.end_ns[i], block.start_ns[i]));
      rows.device.push_back(block.device);
      rows.metric.push_back(block.metrics[k]);
      rows.value.push_back(value);
    }
}

}  // namespace gf
