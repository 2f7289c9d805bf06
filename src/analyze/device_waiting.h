// Which time of a device is only waiting for other ranks.
#pragma once

#include "analyze/context.h"
#include "analyze/ranks/job_waiting.h"

namespace gf {

/// An instant is waiting when a kernel runs and everything that runs, kernels, copies and sets, is
/// a kernel that still waits inside a collective. It is shared out as exclusive time is. O(n log
/// n).
DeviceWaiting device_waiting(const Capture& capture, const DeviceTimeline& line,
                             const JobWaiting& job);

/// Where context.options has the waiting of the job: fills that of each device, and adds the doubts
/// about the job to those about the capture.
void tell_waiting(Context& context, Analysis& analysis);

}  // namespace gf
