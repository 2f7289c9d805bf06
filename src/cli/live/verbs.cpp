#include "cli/live/verbs.h"

#include "cli/verbs.h"
#include "collect/watched_call.h"

namespace gf::cli {

std::vector<Verb> live_verbs() {
  return {record_verb(),   start_verb(),     monitor_verb(), doctor_verb(),
          overhead_verb(), calibrate_verb(), ceilings_verb()};
}

bool driver_hangs() { return abandoned_calls() > 0; }

}  // namespace gf::cli
