// Activity of each device in the window: unions of its activities, the time without any, and a
// share of the busy time for every kernel.
#pragma once

#include <span>
#include <vector>

#include "analyze/context.h"
#include "core/intervals.h"

namespace gf {

/// One timeline for each device that has activities in the capture, in the order of the devices
/// table. A device's window is the span from its first activity's start to its last one's end for
/// "all", else the window as it is. An activity is inside when it shares time with the window; one
/// of no duration when it starts in the window (for "all": always). O(n log n), linear for input in
/// order.
std::vector<DeviceTimeline> build_timelines(const Capture& capture, const WindowInfo& window);

/// Rows of `line` that are kernels of communication libraries, by start.
std::vector<std::uint32_t> collective_rows(const Context& context, const DeviceTimeline& line);

/// The union of all that a device (row of capture.devices) did in the capture.
Intervals busy_spans(const Capture& capture, std::uint32_t device);

/// Gives every instant of the union of `spans` in equal parts to the spans that cover it; a span's
/// share is at most its length, and the shares sum to the union exactly. Where the length of a
/// stretch cannot be divided evenly, the nanoseconds left over (fewer than the spans that cover it)
/// go to the one that began first. `spans` are ordered by start; empty ones get 0. O(n log n).
std::vector<Nanos> exclusive_times(std::span<const Interval> spans);

}  // namespace gf
