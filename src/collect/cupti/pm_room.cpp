#include <algorithm>

#include "collect/cupti/pm_sampler.h"

namespace gf {

namespace {

// What a drain is to find. Fewer cost more each, more take room.
constexpr std::int64_t kSamplesOfADrain = 250, kBytesOfADrain = 24 << 20;
constexpr Nanos kShortestPeriod = 50 * kNsPerMs, kLongestPeriod = 250 * kNsPerMs;
constexpr std::int64_t kLeastBuffer = 2 << 20;
// A host without time for us for so long must not cost samples, where that takes no more than this.
constexpr Nanos kStall = kNsPerSecond / 2;
constexpr std::int64_t kStallBuffer = 64 << 20;

}  // namespace

Nanos pm_decode_period(std::int64_t interval_ns, std::int64_t sample_bytes) {
  const std::int64_t samples = std::min(kSamplesOfADrain, kBytesOfADrain / sample_bytes);
  return std::clamp(samples * interval_ns, kShortestPeriod, kLongestPeriod);
}

std::int64_t pm_buffer_bytes(const PmOptions& options) {
  const auto arrives_in = [&](Nanos time) {
    return time / options.interval_ns * options.sample_bytes;
  };
  const std::int64_t held =
      std::max(2 * arrives_in(options.decode_every_ns), std::min(arrives_in(kStall), kStallBuffer));
  return std::clamp(held + arrives_in(options.first_drain_ns), kLeastBuffer, kPmMostBuffer);
}

}  // namespace gf
