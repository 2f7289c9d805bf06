// Buffer sizes of PM sampling, and counts of lost samples.
#include <gtest/gtest.h>

#include "collect/cupti/pm_sampler.h"

namespace gf {
namespace {

PmOptions options_at(double rate_hz, std::int64_t sample_bytes) {
  PmOptions options;
  options.interval_ns = static_cast<std::int64_t>(1e9 / rate_hz);
  options.sample_bytes = sample_bytes;
  options.decode_every_ns = pm_decode_period(options.interval_ns, sample_bytes);
  return options;
}

TEST(PmRoom, ADrainFindsManySamplesAndComesOften) {
  EXPECT_EQ(options_at(1000, kPmSampleBytes).decode_every_ns, 250 * kNsPerMs);
  EXPECT_EQ(options_at(100, kPmSampleBytes).decode_every_ns, 250 * kNsPerMs);
  EXPECT_EQ(options_at(2000, kPmSampleBytes).decode_every_ns, 125 * kNsPerMs);
  EXPECT_EQ(options_at(20'000, kPmSampleBytes).decode_every_ns, 50 * kNsPerMs);
  // 24 MB of large samples.
  EXPECT_EQ(options_at(400, kPmEnergySampleBytes).decode_every_ns, 38 * 2'500'000);
}

TEST(PmRoom, TheBufferHoldsTwoDrainsAndHalfASecond) {
  EXPECT_EQ(pm_buffer_bytes(options_at(1000, kPmSampleBytes)), 500 * kPmSampleBytes);
  EXPECT_EQ(pm_buffer_bytes(options_at(2000, kPmSampleBytes)), 1000 * kPmSampleBytes);
  auto two_gpus = options_at(1000, kPmSampleBytes);
  two_gpus.first_drain_ns = kNsPerSecond;
  EXPECT_EQ(pm_buffer_bytes(two_gpus), 1500 * kPmSampleBytes);
  // Large samples are slow to decode at any rate; a stall of others may take 128 MB, no more.
  EXPECT_EQ(pm_buffer_bytes(options_at(250, kPmEnergySampleBytes)), 256 << 20);
  EXPECT_EQ(pm_buffer_bytes(options_at(100, kPmEnergySampleBytes)), 256 << 20);
  EXPECT_EQ(pm_buffer_bytes(options_at(20'000, kPmSampleBytes)), 128 << 20);
  EXPECT_EQ(pm_buffer_bytes(options_at(10, kPmSampleBytes)), 2 << 20);
}

TEST(PmGaps, CountWhatIsMissing) {
  PmGaps gaps(100);
  EXPECT_FALSE(gaps.follows(0, 100)) << "the first covers an undefined span";
  EXPECT_TRUE(gaps.follows(100, 200));
  EXPECT_TRUE(gaps.follows(210, 310)) << "jitter is no gap";
  EXPECT_EQ(gaps.lost(), 0);
  EXPECT_TRUE(gaps.follows(610, 710));
  EXPECT_EQ(gaps.lost(), 3);
  EXPECT_FALSE(gaps.follows(610, 710)) << "one that came before";
  gaps.lose();
  EXPECT_EQ(gaps.lost(), 4);
  // The next session's first sample ends 500 later.
  gaps.begin_session();
  EXPECT_FALSE(gaps.follows(1110, 1210));
  EXPECT_EQ(gaps.lost(), 9);
}

}  // namespace
}  // namespace gf
