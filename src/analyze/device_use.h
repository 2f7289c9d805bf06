// The use of each device in the window, from its timeline.
// Separates a device's waiting for other ranks.
#pragma once

#include "analyze/context.h"
#include "analyze/ranks/job_waiting.h"
#include "analyze/result.h"

namespace gf {

/// One for each of context.devices and in the same order; idle causes, levels and waterfalls are
/// left to their own analyses.
std::vector<DeviceUse> measure_devices(const Context& context);

/// Each device has one activity, and the time of that is its window: its shares say nothing.
bool is_one_activity_each(const std::vector<DeviceUse>& devices);

/// The fuller side of a gap on all devices that takes more than half of the window; empty where
/// there is none. What ran before or after it is another part of the program, or all of it.
std::optional<DenseSpan> dense_span(const Context& context);

/// The time outside the steps of the window; empty where they are most of the capture, or it is
/// one of recording windows, between which nothing is known.
std::optional<OutsideSteps> outside_steps(const Context& context);

/// An instant is waiting when a kernel runs and everything that runs, kernels, copies and sets, is
/// a kernel that still waits inside a collective. It is shared out as exclusive time is. O(n log
/// n).
DeviceWaiting device_waiting(const Capture& capture, const DeviceTimeline& line,
                             const JobWaiting& job);

/// Quality notes about the job.
std::vector<QualityNote> doubts_about_job(const JobWaiting& waiting);

}  // namespace gf
