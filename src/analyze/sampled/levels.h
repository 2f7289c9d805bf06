// The samples of a window, summed by device and metric, whole and in buckets of time.
// The ladder and the waterfall of a device from its samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/result.h"
#include "core/intervals.h"
#include "model/capture.h"
#include "model/counter_values.h"

namespace gf {

/// True for metrics whose value is an amount over the sample's span, such as bytes moved; false for
/// states, such as watts.
bool is_count(std::string_view metric);
/// True for metrics that tell of the time before the reading: NVML's utilization.
bool looks_back(std::string_view metric);

/// Makes spans of readings: one of an instant (duration 0) holds until the next of its metric, at
/// most ten seconds or ten times the first interval (of up to an hour); one that looks back holds
/// since the one before.
class ReadingSpans {
 public:
  static constexpr Nanos kHold = 10 * kNsPerSecond, kLongestInterval = 3600 * kNsPerSecond;
  explicit ReadingSpans(const Capture& capture)
      : capture_(capture), kinds_(capture.strings.size()) {}

  struct Span {
    Nanos start, end;
    double value;
  };
  /// The span that this reading closes, or is; empty when it is the first of its metric, or comes
  /// after a gap.
  std::optional<Span> add(std::uint32_t device, Text metric, Nanos start, Nanos duration,
                          double value);

 private:
  struct Chain {
    Nanos at = INT64_MIN, limit = kHold;
    double value = NAN;
    bool first = true;
  };
  struct Kind {
    bool known = false, back = false;
    std::vector<Chain> chains;  // by device row, the host last
  };
  const Capture& capture_;
  std::vector<Kind> kinds_;  // by metric
};

/// f(device row, metric, start, end, value) for every sample that the filter takes and that meets
/// the window, instants as spans.
template <class F>
void each_sample_span(const Capture& capture, Interval window, const CounterFilter& filter,
                      F&& apply) {
  ReadingSpans spans(capture);
  // Readings hold into the window from before it, and the one that ends a span may come after it.
  const Interval wider{
      window.start < INT64_MIN + ReadingSpans::kHold ? INT64_MIN
                                                     : window.start - ReadingSpans::kHold,
      window.end > INT64_MAX - ReadingSpans::kHold ? INT64_MAX : window.end + ReadingSpans::kHold};
  each_counter_value(
      capture, wider, filter,
      [&](std::uint32_t device, Text metric, Nanos start, Nanos duration, double value) {
        const auto span = spans.add(device, metric, start, duration, value);
        if (span && span->start < window.end && span->end > window.start)
          apply(device, metric, span->start, span->end, span->value);
      });
}

struct SampledSeries {
  Text metric = Text::none;
  Nanos covered = 0;         // time of the window with data
  double integral = 0;       // sum of value * ns; of a count the sum of what lies in the window
  double low = 0, high = 0;  // of a count: rates a second
  std::int64_t samples = 0;
  std::vector<double> sum, time;  // by bucket: like integral and covered

  /// Mean over the time that has data; of a count the rate a second. Empty without data.
  std::optional<double> mean(bool count) const;
};

/// By device row, the host last; in order of the metrics' first samples.
std::vector<std::vector<SampledSeries>> collect_series(const Capture& capture, Interval window,
                                                       Nanos bucket_ns,
                                                       const CounterFilter& filter = {});

/// Means while there were samples, the waterfall's way down; NaN where nothing was sampled.
struct SampledMeans {
  double busy = NAN, active = NAN, issue = NAN, tensor = NAN, tensor_issue = NAN;
  double covered = 0;  // share of the span in which `busy` is known
};

/// Every metric that a rung can be read from.
std::vector<std::string_view> sampled_rung_metrics();

/// The rungs that were sampled over a span of so many nanoseconds, and their means. No rung is
/// above the one that holds it, the first one not above `most`.
struct SampledLadder {
  std::vector<Level> levels;
  SampledMeans means;
};
SampledLadder sampled_ladder(const Capture& capture, const std::vector<SampledSeries>& series,
                             Nanos span, double most = 1);

/// The kernel bars' shares of `busy` (a share of the same time as the means).
std::vector<double> sampled_split(const SampledMeans& means, double busy);

/// Fills busy, idle, levels and waterfall of a device whose id, name, start and span stand already.
/// Time without samples is unknown: a level is the interval from none of it to all of it. `source`:
/// pm_sampling, gpm, dcgm or nvml.
void measure_sampled_levels(const Capture& capture, const std::vector<SampledSeries>& series,
                            SampleSource source, DeviceUse& use);

/// The ladder over all devices: means weighted by their spans.
std::vector<Level> join_ladders(std::span<const DeviceUse> devices);

}  // namespace gf
