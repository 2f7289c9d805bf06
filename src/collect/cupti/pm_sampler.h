// Samples that never arrived, told by the gaps that they leave: a sample spans from its
// predecessor's end to its own.
// Samples hardware counters of a whole GPU, whichever process uses it, from outside (CUPTI PM
// sampling). Nothing is injected into any program, nothing is replayed, clocks are left alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collect/cupti/cupti.h"
#include "collect/cupti/pm_metrics.h"

namespace gf {

class PmGaps {
 public:
  explicit PmGaps(std::int64_t interval_ns = 1) : interval_(interval_ns) {}

  /// The first sample of a session covers an undefined span.
  void begin_session() { first_ = true; }
  /// True if a sample is a new one and has a start, on the GPU's clock. A longer gap before it is
  /// samples that are missing.
  bool follows(std::int64_t start, std::int64_t end) {
    if (first_) {
      first_ = false;
      if (last_end_ != 0)
        lost_ += intervals_in(end - last_end_);  // an overflow ended the one before
      last_end_ = end;
      return false;
    }
    if (end <= start || end <= last_end_) return false;
    if (start - last_end_ > interval_ / 2) lost_ += intervals_in(start - last_end_);
    last_end_ = end;
    return true;
  }
  /// One that arrived and cannot be read.
  void lose() { ++lost_; }
  std::int64_t lost() const { return lost_; }

 private:
  std::int64_t intervals_in(std::int64_t gap) const { return (gap + interval_ / 2) / interval_; }

  std::int64_t interval_ = 1, last_end_ = 0, lost_ = 0;
  bool first_ = true;
};

struct PmOptions {
  std::int64_t interval_ns = kNsPerMs;
  Nanos decode_every_ns = 100 * kNsPerMs;  // how often drain() will be called; sizes the buffers
  Nanos first_drain_ns = 0;  // after the start, beside that: other GPUs may be set up meanwhile
  std::size_t hardware_buffer_bytes = 0;  // to begin with; 0: room for what arrives until the first
                                          // drain, and between two. An overflow doubles it
  std::span<const PmMetric> wanted = pm_metrics();
  std::int64_t sample_bytes = kPmSampleBytes;  // of that buffer that one sample of them takes
  std::vector<std::string>
      metrics;  // ids of `wanted` to sample; empty: all that the chip takes in one pass
};

inline constexpr std::int64_t kPmMostBuffer = 512 << 20;  // of the GPU's buffer
/// The period between drains at this interval. A decode costs 2 to 4 ms however little it finds, so
/// not too often; buffers grow with what arrives in between, so not too rarely.
Nanos pm_decode_period(std::int64_t interval_ns, std::int64_t sample_bytes);
/// Room in the GPU's buffer for what arrives before the first drain, between two, and while the
/// host has no time for us.
std::int64_t pm_buffer_bytes(const PmOptions& options);

/// One sample; `values` runs along choice().metrics, in the catalog's units.
struct PmSample {
  Nanos start_ns, end_ns;  // host clock
  std::int64_t gpu_start_ns, gpu_end_ns;
  const double* values;
};

class PmSampler {
 public:
  /// Starts sampling. When it fails, `why` says what kind of obstacle it was.
  static Result<std::unique_ptr<PmSampler>> start(std::shared_ptr<Cupti> cupti, const GpuInfo& gpu,
                                                  const PmOptions& options, PmRefusal& why);
  ~PmSampler();

  const PmChoice& choice() const;
  const std::string& chip() const;
  /// Hands out every sample that has arrived since the last call, in order of time. The first
  /// sample of a session covers an undefined span and is dropped. Errors: the device is gone, the
  /// decoder refuses.
  Status drain(const std::function<void(const PmSample&)>& take);

  std::int64_t samples() const;  // handed out
  std::int64_t lost() const;     // never arrived, from gaps between timestamps
  std::int64_t overflows()
      const;  // times the hardware buffer overflowed; sampling began again after each
  std::int64_t clock_offset_ns() const;  // host clock - GPU clock, as now estimated
  /// CPU spent inside CUPTI: decoding, turning counters into values, emptying images.
  struct Cost {
    double decode_s = 0, evaluate_s = 0, reset_s = 0;
  };
  Cost cost() const;
  std::size_t hardware_bytes() const;  // the GPU's buffer, as it is now
  std::size_t image_bytes() const;
  std::size_t image_samples() const;

 private:
  PmSampler();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gf
