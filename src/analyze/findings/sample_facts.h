// What the rules of findings look at where only samples are known.
#pragma once

#include <string_view>

#include "analyze/result.h"
#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

struct SampleFacts {
  const Capture& capture;
  const Analysis& analysis;
  Interval settled;  // when the activity was steady, empty when it never was
  Nanos window = 0, busy = 0, idle = 0, sm_inactive = 0, stalled = 0;  // summed over devices

  SampleFacts(const Capture& capture, const Analysis& analysis, Interval settled);

  double of_window(Nanos ns) const {
    if (window > 0) return static_cast<double>(ns) / static_cast<double>(window);
    return 0;
  }
  double of_busy(Nanos ns) const {
    if (busy > 0) return static_cast<double>(ns) / static_cast<double>(busy);
    return 0;
  }
  /// A level of all devices; empty without data.
  Share level(std::string_view id) const;
  /// A level while the GPU is busy.
  Share while_busy(std::string_view id) const;
  /// A reading of the program's processes; nullptr without data.
  const SampledReading* host(std::string_view id) const;
};

}  // namespace gf
