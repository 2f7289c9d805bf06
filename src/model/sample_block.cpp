#include "model/sample_block.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace gf {

namespace {

constexpr std::uint64_t kMost = 1ull << 26;  // bytes of a block, unpacked: more is none of ours
constexpr std::uint64_t kTimes = 16;         // bytes of a sample's start and end

void put_signed(std::string& out, std::int64_t v) {
  auto u = (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
  for (; u >= 0x80; u >>= 7) out += static_cast<char>(u | 0x80);
  out += static_cast<char>(u);
}

bool get_signed(const unsigned char*& at, const unsigned char* end, std::int64_t& v) {
  std::uint64_t u = 0;
  for (int shift = 0; shift < 64 && at != end; shift += 7) {
    const auto byte = *at++;
    u |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) {
      v = static_cast<std::int64_t>(u >> 1) ^ -static_cast<std::int64_t>(u & 1);
      return true;
    }
  }
  return false;
}

/// How many of `n` values whose bytes lie in planes, `stride` apart, are not NaN.
std::uint64_t count_data(const unsigned char* planes, std::size_t n, std::size_t stride) {
  std::uint64_t none = 0;
  const unsigned char *b0 = planes, *b1 = b0 + stride, *b2 = b1 + stride, *b3 = b2 + stride;
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned fraction = (b2[i] & 0x7fu) << 16 | unsigned{b1[i]} << 8 | b0[i],
                   exponent = (b3[i] & 0x7fu) << 1 | b2[i] >> 7;
    none += (exponent == 0xff) & (fraction != 0);
  }
  return n - none;
}

/// A damaged block's samples may end before they start.
void note_reach(const SampleBlock& block, PackedBlock& out) {
  for (std::size_t i = 0; i < block.samples(); ++i) {
    const auto [first, last] = std::minmax(block.start_ns[i], block.end_ns[i]);
    out.first_ns = i == 0 ? first : std::min(out.first_ns, first);
    out.last_ns = i == 0 ? last : std::max(out.last_ns, last);
    out.backwards |= block.end_ns[i] < block.start_ns[i];
  }
}

}  // namespace

PackedBlock pack(const SampleBlock& block) {
  const std::size_t n = block.samples(), m = block.metrics.size();
  PackedBlock out{block.device, static_cast<std::uint32_t>(n), block.metrics, {}};
  std::string raw;
  std::int64_t end = 0, length = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t this_length = length_of(block.start_ns[i], block.end_ns[i]);
    put_signed(raw, length_of(end, block.start_ns[i]));
    put_signed(raw, length_of(length, this_length));
    end = block.end_ns[i];
    length = this_length;
  }
  const std::size_t values = raw.size();
  raw.resize(values + 4 * n * m);
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t i = 0; i < n; ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(block.values[i * m + k]);
      for (std::size_t b = 0; b < 4; ++b)
        raw[values + (b * m + k) * n + i] = static_cast<char>(bits >> (8 * b));
    }
  out.data.resize(ZSTD_compressBound(raw.size()));
  const std::size_t size =
      ZSTD_compress(out.data.data(), out.data.size(), raw.data(), raw.size(), 3);
  out.data.resize(ZSTD_isError(size) ? 0 : size);
  out.data.shrink_to_fit();
  note_reach(block, out);
  out.values = static_cast<std::uint64_t>(std::count_if(block.values.begin(), block.values.end(),
                                                        [](float v) { return !std::isnan(v); }));
  return out;
}

void BlockUnpacker::FreeContext::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }
BlockUnpacker::BlockUnpacker() : context_(ZSTD_createDCtx()) {}
BlockUnpacker::~BlockUnpacker() = default;

/// Spans into block_, and planes_ at the values.
bool BlockUnpacker::open(const PackedBlock& p) {
  block_.device = p.device;
  block_.clear();
  const std::uint64_t size = ZSTD_getFrameContentSize(p.data.data(), p.data.size()), n = p.samples,
                      m = p.metrics.size();
  // ZSTD_CONTENTSIZE_ERROR and _UNKNOWN are above kMost. A sample takes two bytes to twenty besides
  // its values.
  if (size > kMost || m > kMost || n > kMost / (4 * m + kTimes) || size < 4 * n * m + 2 * n ||
      size > 4 * n * m + 20 * n)
    return false;
  if (size > capacity_) raw_ = std::make_unique_for_overwrite<char[]>(capacity_ = size);
  if (ZSTD_decompressDCtx(context_.get(), raw_.get(), size, p.data.data(), p.data.size()) != size)
    return false;
  const auto* at = reinterpret_cast<const unsigned char*>(raw_.get());
  const auto* values = at + size - 4 * n * m;
  block_.start_ns.resize(n), block_.end_ns.resize(n);
  std::int64_t end = 0, length = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t gap = 0, change = 0;
    if (!get_signed(at, values, gap) || !get_signed(at, values, change)) return false;
    block_.start_ns[i] = end_of(end, gap);
    length = end_of(length, change);
    block_.end_ns[i] = end = end_of(block_.start_ns[i], length);
  }
  planes_ = values;
  return at == values;
}

const SampleBlock& BlockUnpacker::unpack(const PackedBlock& p, std::span<const Text> wanted) {
  block_.metrics.clear();
  if (!open(p)) {
    block_.clear();
    return block_;
  }
  const std::size_t n = p.samples, stride = n * p.metrics.size();
  auto is_wanted = [&](Text metric) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), metric) != wanted.end();
  };
  for (const Text metric : p.metrics)
    if (is_wanted(metric)) block_.metrics.push_back(metric);
  const std::size_t width = block_.metrics.size();
  block_.values.resize(n * width);
  std::size_t column = 0;
  for (std::size_t k = 0; k < p.metrics.size(); ++k) {
    if (!is_wanted(p.metrics[k])) continue;
    const unsigned char *b0 = planes_ + k * n, *b1 = b0 + stride, *b2 = b1 + stride,
                        *b3 = b2 + stride;
    float* out = block_.values.data() + column++;
    for (std::size_t i = 0; i < n; ++i)
      out[i * width] =
          std::bit_cast<float>(std::uint32_t{b0[i]} | std::uint32_t{b1[i]} << 8 |
                               std::uint32_t{b2[i]} << 16 | std::uint32_t{b3[i]} << 24);
  }
  return block_;
}

std::optional<PackedBlock> BlockUnpacker::checked_block(std::uint32_t device,
                                                        std::vector<Text> metrics,
                                                        std::uint64_t samples, std::string data) {
  PackedBlock p{device, static_cast<std::uint32_t>(std::min<std::uint64_t>(samples, UINT32_MAX)),
                std::move(metrics), std::move(data)};
  if (samples == 0 || !open(p)) return {};
  note_reach(block_, p);
  p.values = count_data(planes_, p.samples * p.metrics.size(), p.samples * p.metrics.size());
  return p;
}

void expand(const SampleBlock& block, counter_samples_table& rows) {
  const std::size_t n = block.samples(), m = block.metrics.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < m; ++k) {
      const float value = block.values[i * m + k];
      if (std::isnan(value)) continue;
      rows.start_ns.push_back(block.start_ns[i]);
      rows.duration_ns.push_back(length_of(block.start_ns[i], block.end_ns[i]));
      rows.device.push_back(block.device);
      rows.metric.push_back(block.metrics[k]);
      rows.value.push_back(static_cast<double>(value));
    }
}

}  // namespace gf
