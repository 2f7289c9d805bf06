// The values of counter_samples, whichever way the capture holds them: the one way for analyses to read samples.
#pragma once

#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

inline bool holds_counter_values(const Capture& capture) { return !capture.counter_samples.empty(); }

/// f(device row, metric, start_ns, duration_ns, value) for every value whose span meets `span`; of one device and metric in order of
/// time, as the source wrote them. A reading of an instant has duration 0.
template <class F>
void each_counter_value(const Capture& capture, Interval span, F&& f) {
  const auto& t = capture.counter_samples;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (t.start_ns[i] < span.end && t.start_ns[i] + t.duration_ns[i] >= span.start) f(t.device[i], t.metric[i], t.start_ns[i], t.duration_ns[i], t.value[i]);
}

}  // namespace gf
