#include "analyze/idle/idle.h"

#include "analyze/idle/label_gaps.h"

namespace gf {

void explain_idle(Context& context, Analysis& analysis) {
  const LaunchFacts facts = collect_launch_facts(context);
  GapLabeller labeller(context, facts);
  for (std::size_t d = 0; d < context.devices.size(); ++d) {
    IdleSums sums(context);
    context.devices[d].idle_pieces = labeller.label(context.devices[d], sums);
    analysis.devices[d].idle = sums.causes();
  }
}

}  // namespace gf
