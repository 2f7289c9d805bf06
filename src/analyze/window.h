// The span that is analyzed.
#pragma once

#include <optional>
#include <string_view>

#include "analyze/chosen_devices.h"
#include "analyze/result.h"
#include "analyze/steps/steps.h"
#include "core/error.h"
#include "model/capture.h"

namespace gf {

/// Turns --window into a half-open span of the capture's clock.
///   auto       steps where there are any, else stable where a loop is, else all (as one span, when
///   there are several devices)
///   all        from the first device activity's start to the last one's end (each device has its
///   own such span); when the
///              recording has several windows, the longest of them: nothing is known of the time
///              between
///   steps      the most steps in a row of which none is start-up or an outlier
///   stable     from the first stable step to the end of the last step; without steps a loop of
///   equal blocks, which may be parts of a step
///   step:N     the step that the source numbers N
///   START:END  times after the first device activity, plain nanoseconds or with ns, us, ms, s;
///   either may be left out.
///              Times of the capture's own clock are understood when they can mean nothing else.
/// Errors: a text that is none of these, a step that does not exist (the message lists those that
/// do), no stable step, an empty span, a capture without device activities.
/// Only activities of `devices` count.
Result<WindowInfo> choose_window(const Capture& capture, std::string_view wanted,
                                 const Steps& steps, const ChosenDevices& devices = {});

/// The window that is this span of the capture's clock. Errors: a capture without device
/// activities.
Result<WindowInfo> choose_window(const Capture& capture, Interval span, const Steps& steps);

/// True if all processes that worked on a device were recorded for all of a span: between windows
/// nothing is known.
bool recorded_throughout(const Capture& capture, Interval span);

/// From the first activity's start to the last one's end, of `devices`; of a capture without any,
/// of its host operations.
Interval extent(const Capture& capture, const ChosenDevices& devices = {});

/// A time of START:END: plain nanoseconds, or a number with ns, us, ms or s.
std::optional<Nanos> parse_span_time(std::string_view text);

/// START:END of --window, counted from the start of `all`, as far as anything is recorded. Errors:
/// no span, an empty one, one outside of `all`.
Result<Interval> parse_span(const std::string& path, std::string_view wanted, Interval all,
                            Interval recorded);

}  // namespace gf
