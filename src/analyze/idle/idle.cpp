#include "analyze/idle/idle.h"

#include <fmt/format.h>

#include "analyze/findings/facts.h"
#include "analyze/idle/label_gaps.h"

namespace gf {

namespace {

/// Gaps that hardware does not make are no advice but a doubt about the data.
void note_unexplained(Analysis& analysis) {
  Nanos ns = 0;
  std::int64_t gaps = 0;
  for (const auto& device : analysis.devices)
    for (const auto& cause : device.idle)
      if (cause.cause == IdleReason::unexplained) {
        ns += cause.ns;
        gaps += cause.gaps;
      }
  if (gaps > 0)
    analysis.quality.push_back(
        {std::string(name_of(QualityCode::unexplained_gaps)), gaps,
         fmt::format("the device had work queued and idled for longer than hardware needs, {} in "
                     "all: the capture lacks what happened there (events that the profiler "
                     "dropped, another process)",
                     say_time(ns))});
}

}  // namespace

void explain_idle(Context& context, Analysis& analysis) {
  const LaunchFacts facts = collect_launch_facts(context);
  GapLabeller labeller(context, facts);
  IdleSums sums(context);
  for (std::size_t device = 0; device < context.devices.size(); ++device) {
    sums.clear();
    context.devices[device].idle_pieces = labeller.label(context.devices[device], sums);
    analysis.devices[device].idle = sums.causes();
  }
  note_unexplained(analysis);
}

}  // namespace gf
