// The analysis of samples: the ladder, the waterfall and readings over time of a recording or log
// that holds no kernels.
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"
#include "core/error.h"

namespace gf {

/// True when samples of a GPU are all there is: `record` without --kernels, logs of nvidia-smi,
/// DCGM or NVML.
bool holds_only_samples(const Capture& capture);

/// The same of an answer.
bool only_samples(const Analysis& analysis);

/// An answer without findings.
struct SampledAnalysis {
  Analysis analysis;
  Interval settled;  // when the activity was steady, empty when it never was
};

/// Window `all` runs from the first to the last time that a device worked (over all samples when
/// none did), `stable` leaves the beginning and the end out that differ from the rest; each device
/// has its own such span (spans.h). Errors: no sample in the window, steps asked for.
Result<SampledAnalysis> analyze_samples(const Capture& capture, const AnalyzeOptions& options);

/// Levels and readings over a window (kAllTime: over all samples), for captures with
/// kernels; without devices when nothing was sampled.
SampledUse samples_over_time(const Capture& capture, Interval within);

}  // namespace gf
