#include "model/sample_block.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "model/file_blocks.h"

namespace gf {

namespace {

constexpr std::uint64_t kMost = 1ull << 26;  // bytes of a block, unpacked: more is none of ours
constexpr std::uint64_t kTimes = 16;         // bytes of a sample's start and end

void put_signed(std::string& out, std::int64_t value) {
  auto unit = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  for (; unit >= 0x80; unit >>= 7) out += static_cast<char>(unit | 0x80);
  out += static_cast<char>(unit);
}

bool get_signed(const unsigned char*& at, const unsigned char* end, std::int64_t& value) {
  std::uint64_t folded = 0;
  for (int shift = 0; shift < 64 && at != end; shift += 7) {
    const auto byte = *at++;
    folded |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) {
      value = static_cast<std::int64_t>(folded >> 1) ^ -static_cast<std::int64_t>(folded & 1);
      return true;
    }
  }
  return false;
}

/// Counts those of `n` values, with bytes in planes `stride` apart, that are not NaN.
std::uint64_t count_data(const unsigned char* planes, std::size_t count, std::size_t stride) {
  std::uint64_t none = 0;
  const unsigned char *b0 = planes, *b1 = b0 + stride, *b2 = b1 + stride, *b3 = b2 + stride;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned fraction = (b2[i] & 0x7fu) << 16 | unsigned{b1[i]} << 8 | b0[i],
                   exponent = (b3[i] & 0x7fu) << 1 | b2[i] >> 7;
    none += (exponent == 0xff) & (fraction != 0);
  }
  return count - none;
}

/// The bytes that a block unpacks to; nothing when they cannot be its samples.
std::optional<std::uint64_t> unpacked_size(const PackedBlock& block) {
  const std::uint64_t size = ZSTD_getFrameContentSize(block.data.data(), block.data.size()),
                      samples = block.samples, metrics = block.metrics.size();
  // ZSTD_CONTENTSIZE_ERROR and _UNKNOWN are above kMost. A sample takes two bytes to twenty besides
  // its values.
  if (size > kMost || metrics > kMost || samples > kMost / (4 * metrics + kTimes) ||
      size < 4 * samples * metrics + 2 * samples || size > 4 * samples * metrics + 20 * samples)
    return {};
  return size;
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
  const std::size_t samples = block.samples(), metrics = block.metrics.size();
  PackedBlock out{block.device, static_cast<std::uint32_t>(samples), block.metrics, {}};
  std::string raw;
  std::int64_t end = 0, length = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const std::int64_t this_length = length_of(block.start_ns[i], block.end_ns[i]);
    put_signed(raw, length_of(end, block.start_ns[i]));
    put_signed(raw, length_of(length, this_length));
    end = block.end_ns[i];
    length = this_length;
  }
  const std::size_t values = raw.size();
  raw.resize(values + 4 * samples * metrics);
  for (std::size_t metric = 0; metric < metrics; ++metric)
    for (std::size_t i = 0; i < samples; ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(block.values[i * metrics + metric]);
      for (std::size_t byte = 0; byte < 4; ++byte)
        raw[values + (byte * metrics + metric) * samples + i] =
            static_cast<char>(bits >> (8 * byte));
    }
  out.data.resize(ZSTD_compressBound(raw.size()));
  const std::size_t size =
      ZSTD_compress(out.data.data(), out.data.size(), raw.data(), raw.size(), 3);
  out.data.resize(ZSTD_isError(size) ? 0 : size);
  out.data.shrink_to_fit();
  note_reach(block, out);
  out.values = static_cast<std::uint64_t>(std::count_if(
      block.values.begin(), block.values.end(), [](float value) { return !std::isnan(value); }));
  return out;
}

void BlockUnpacker::FreeContext::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }
BlockUnpacker::BlockUnpacker() : context_(ZSTD_createDCtx()) {}
BlockUnpacker::~BlockUnpacker() = default;

/// Spans into block_, and planes_ at the values.
bool BlockUnpacker::open(const PackedBlock& packed_block) {
  block_.device = packed_block.device;
  block_.clear();
  const std::uint64_t samples = packed_block.samples, metrics = packed_block.metrics.size();
  const auto unpacked = unpacked_size(packed_block);
  if (!unpacked) return false;
  const std::uint64_t size = *unpacked;
  if (size > capacity_) raw_ = std::make_unique_for_overwrite<char[]>(capacity_ = size);
  if (ZSTD_decompressDCtx(context_.get(), raw_.get(), size, packed_block.data.data(),
                          packed_block.data.size()) != size)
    return false;
  const auto* at = reinterpret_cast<const unsigned char*>(raw_.get());
  const auto* values = at + size - 4 * samples * metrics;
  block_.start_ns.resize(samples);
  block_.end_ns.resize(samples);
  std::int64_t end = 0, length = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    std::int64_t gap = 0, change = 0;
    if (!get_signed(at, values, gap) || !get_signed(at, values, change)) return false;
    block_.start_ns[i] = end_of(end, gap);
    length = end_of(length, change);
    block_.end_ns[i] = end = end_of(block_.start_ns[i], length);
  }
  planes_ = values;
  return at == values;
}

const SampleBlock& BlockUnpacker::unpack(const PackedBlock& packed_block,
                                         std::span<const Text> wanted) {
  block_.metrics.clear();
  if (!open(packed_block)) {
    block_.clear();
    return block_;
  }
  const std::size_t samples = packed_block.samples, stride = samples * packed_block.metrics.size();
  auto is_wanted = [&](Text metric) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), metric) != wanted.end();
  };
  for (const Text metric : packed_block.metrics)
    if (is_wanted(metric)) block_.metrics.push_back(metric);
  const std::size_t width = block_.metrics.size();
  block_.values.resize(samples * width);
  std::size_t column = 0;
  for (std::size_t metric = 0; metric < packed_block.metrics.size(); ++metric) {
    if (!is_wanted(packed_block.metrics[metric])) continue;
    const unsigned char *b0 = planes_ + metric * samples, *b1 = b0 + stride, *b2 = b1 + stride,
                        *b3 = b2 + stride;
    float* out = block_.values.data() + column++;
    for (std::size_t i = 0; i < samples; ++i)
      out[i * width] =
          std::bit_cast<float>(std::uint32_t{b0[i]} | std::uint32_t{b1[i]} << 8 |
                               std::uint32_t{b2[i]} << 16 | std::uint32_t{b3[i]} << 24);
  }
  return block_;
}

std::optional<PackedBlock> BlockUnpacker::checked_block(std::uint32_t device,
                                                        std::vector<Text> metrics,
                                                        std::uint64_t samples, std::string data) {
  PackedBlock packed_block{device,
                           static_cast<std::uint32_t>(std::min<std::uint64_t>(samples, UINT32_MAX)),
                           std::move(metrics), std::move(data)};
  if (samples == 0 || !open(packed_block)) return {};
  note_reach(block_, packed_block);
  packed_block.values = count_data(planes_, packed_block.samples * packed_block.metrics.size(),
                                   packed_block.samples * packed_block.metrics.size());
  return packed_block;
}

std::optional<PackedBlock> told_block(PackedBlock told, std::string data) {
  told.data = std::move(data);
  const std::uint64_t most = std::uint64_t{told.samples} * told.metrics.size();
  if (told.samples == 0 || !unpacked_size(told) || told.values > most) return {};
  return told;
}

void expand(const SampleBlock& block, counter_samples_table& rows) {
  const std::size_t samples = block.samples(), metrics = block.metrics.size();
  for (std::size_t i = 0; i < samples; ++i)
    for (std::size_t metric = 0; metric < metrics; ++metric) {
      const float value = block.values[i * metrics + metric];
      if (std::isnan(value)) continue;
      rows.start_ns.push_back(block.start_ns[i]);
      rows.duration_ns.push_back(length_of(block.start_ns[i], block.end_ns[i]));
      if (metrics > 1) rows.metric.push_back(block.metrics[metric]);
      rows.value.push_back(static_cast<double>(value));
    }
  rows.device.resize(rows.value.size(), block.device);
  if (metrics == 1) rows.metric.resize(rows.value.size(), block.metrics[0]);
}

}  // namespace gf
