// A counter report without a trace: no time line, but the ladder of its kernels.
#pragma once

#include "analyze/result.h"
#include "model/capture.h"

namespace gf {

bool holds_only_report(const Capture& capture);
/// True if an answer is that of a report alone.
bool is_report_alone(const Analysis& analysis);

/// Lays the report's kernels one after the other, each for as long as it took under the profiler,
/// so that shares are of their time.
void lay_out_report(Capture& capture);

/// Takes back what a made-up time line cannot know: how busy the GPU was, and advice that follows
/// from it. Says so in `match.note`.
void forget_time_line(Analysis& analysis);

}  // namespace gf
