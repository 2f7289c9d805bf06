// The verbs that ask a driver: what runs, how it runs, what a GPU can do.
#pragma once

#include "cli/options.h"

namespace gf::cli {

Verb record_verb();
Verb start_verb();
Verb monitor_verb();
Verb doctor_verb();
Verb overhead_verb();
Verb calibrate_verb();
Verb ceilings_verb();

}  // namespace gf::cli
