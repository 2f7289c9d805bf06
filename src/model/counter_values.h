// A row of counter_samples in one piece.
// The values of counter_samples and of sample_blocks: the one way for analyses to read samples.
// Blocks are unpacked on the way, those that can hold what is asked for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/intervals.h"
#include "model/capture.h"
#include "model/tables.h"

namespace gf {

/// One value of one metric; without a duration a reading at an instant, without a device the
/// host's.
struct CounterRow {
  Nanos start_ns = 0;
  Nanos duration_ns = 0;
  std::uint32_t device = kNoRow;
  Text metric{};
  double value = 0;
};

inline void add_row(counter_samples_table& table, const CounterRow& value) {
  table.start_ns.push_back(value.start_ns);
  table.duration_ns.push_back(value.duration_ns);
  table.device.push_back(value.device);
  table.metric.push_back(value.metric);
  table.value.push_back(value.value);
}

/// Every value meets it.
inline constexpr Interval kAllTime{INT64_MIN, INT64_MAX};

/// Selects the values to look at.
struct CounterFilter {
  std::optional<std::uint32_t> device;  // row of devices, kNoRow: the host; none: any
  std::vector<Text> metrics;            // empty: all
  bool takes(std::uint32_t of) const { return !device || *device == of; }
  bool takes(Text metric) const {
    return metrics.empty() || std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
  }
};

/// True if a value over these times meets one of several spans, sorted and disjoint. One that ends
/// where a span begins does: a reading of an instant has no length.
inline bool meets(std::span<const Interval> spans, Nanos start, Nanos end) {
  const auto first = std::partition_point(spans.begin(), spans.end(), [&](const Interval& span) {
    return span.end <= start && span.end != kAllTime.end;
  });
  return first != spans.end() && end >= first->start;
}

/// True if some value of a block can be one that is asked for.
inline bool may_hold(const PackedBlock& block, std::span<const Interval> spans,
                     const CounterFilter& filter) {
  return filter.takes(block.device) && meets(spans, block.first_ns, block.last_ns) &&
         std::any_of(block.metrics.begin(), block.metrics.end(),
                     [&](Text metric) { return filter.takes(metric); });
}

/// f(device row, metric, start_ns, duration_ns, value) for every value that the filter takes and
/// that meets one of the spans (sorted, disjoint): rows, then blocks, as the source wrote them,
/// which for one device and metric of a recording is in order of time. A reading of an instant has
/// duration 0. Only rows can hold NaN.
template <class F>
void each_counter_value(const Capture& capture, std::span<const Interval> spans,
                        const CounterFilter& filter, F&& apply) {
  const auto& counter_samples = capture.counter_samples;
  for (std::size_t i = 0; i < counter_samples.size(); ++i)
    if (filter.takes(counter_samples.device[i]) && filter.takes(counter_samples.metric[i]) &&
        meets(spans, counter_samples.start_ns[i],
              end_of(counter_samples.start_ns[i], counter_samples.duration_ns[i])))
      apply(counter_samples.device[i], counter_samples.metric[i], counter_samples.start_ns[i],
            counter_samples.duration_ns[i], counter_samples.value[i]);
  if (capture.sample_blocks.empty()) return;
  BlockUnpacker unpacker;
  for (const PackedBlock& packed : capture.sample_blocks) {
    if (!may_hold(packed, spans, filter)) continue;
    const SampleBlock& block = unpacker.unpack(packed, filter.metrics);
    const std::size_t width = block.metrics.size();
    for (std::size_t i = 0; i < block.samples(); ++i) {
      if (!meets(spans, block.start_ns[i], block.end_ns[i])) continue;
      const Nanos duration = length_of(block.start_ns[i], block.end_ns[i]);
      for (std::size_t metric_index = 0; metric_index < width; ++metric_index)
        if (const float value = block.values[i * width + metric_index]; !std::isnan(value))
          apply(block.device, block.metrics[metric_index], block.start_ns[i], duration,
                static_cast<double>(value));
    }
  }
}
template <class F>
void each_counter_value(const Capture& capture, Interval span, const CounterFilter& filter,
                        F&& apply) {
  each_counter_value(capture, std::span<const Interval>(&span, 1), filter, std::forward<F>(apply));
}
template <class F>
void each_counter_value(const Capture& capture, Interval span, F&& apply) {
  each_counter_value(capture, span, CounterFilter{}, std::forward<F>(apply));
}

inline bool holds_counter_values(const Capture& capture) {
  return !capture.counter_samples.empty() || !capture.sample_blocks.empty();
}

/// The number of values.
inline std::uint64_t counter_value_count(const Capture& capture) {
  std::uint64_t values = capture.counter_samples.size();
  for (const auto& block : capture.sample_blocks) values += block.values;
  return values;
}

}  // namespace gf
