#include <fmt/format.h>

#include <algorithm>

#include "analyze/attribution/attribution.h"
#include "analyze/context.h"
#include "analyze/steps/steps.h"
#include "analyze/work/work.h"
#include "model/sample_block.h"

namespace gf {
namespace {

/// From the first event to the end of the last.
Interval extent_on_host(const Capture& capture) {
  Interval span{INT64_MAX, INT64_MIN};
  auto widen = [&](Nanos start, Nanos end) {
    span.start = std::min(span.start, start);
    span.end = std::max(span.end, end);
  };
  const auto& ops = capture.host_ops;
  for (std::size_t op = 0; op < ops.size(); ++op)
    widen(ops.start_ns[op], end_of(ops.start_ns[op], ops.duration_ns[op]));
  for (const Nanos time : capture.memory_events.time_ns) widen(time, end_of(time, 1));
  return span;
}

/// Steps that the source numbered; else each mark, though it launched nothing on a device.
std::vector<StepInfo> steps_on_host(const Context& context) {
  auto steps = find_steps(context.capture, {}, context.host, context.names).steps;
  if (!steps.empty()) return steps;
  for (const auto& mark : find_marks(context.capture).marks)
    steps.push_back({mark.number, mark.start, length_of(mark.start, mark.end), false});
  name_far_off(steps);
  return steps;
}

}  // namespace

bool has_host_work_alone(const Capture& capture) {
  return capture.activities.empty() && capture.report_kernels.empty() &&
         (!capture.host_ops.empty() || !capture.memory_events.empty());
}

Result<WorkUse> measure_host_work(const Capture& capture, const AnalyzeOptions& options) {
  Context context{capture, options};
  context.host = HostThreads(capture);
  context.names = Names(capture);
  context.attribution = attribute(capture, context.host, context.names, {});
  WindowInfo& window = context.window;
  window.all_steps = window.steps = steps_on_host(context);
  Interval span = extent_on_host(capture);
  const bool by_default = options.window == "auto" && !window.steps.empty();
  if (options.window == "steps" || by_default) {
    if (window.steps.empty()) return fail("--window steps: there are none", capture.path);
    window.kind = WindowKind::steps;
    span = {window.steps.front().start_ns,
            end_of(window.steps.back().start_ns, window.steps.back().duration_ns)};
  } else if (options.window != "all" && options.window != "auto") {
    return fail(
        fmt::format("--window {}: a capture without GPU activity has all or steps", options.window),
        capture.path);
  }
  window.start_ns = span.start;
  window.end_ns = span.end;
  window.duration_ns = length_of(span.start, span.end);
  Analysis analysis;
  analysis.source = source_of(capture);
  analysis.quality = quality_of(capture);
  analysis.window = window;
  return measure_work(context, analysis);
}

}  // namespace gf
