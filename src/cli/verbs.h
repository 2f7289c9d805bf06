// Every verb says what it takes and does.
#pragma once

#include "cli/options.h"

namespace gf::cli {

Verb analyze_verb();
Verb compare_verb();
Verb export_verb();
Verb import_verb();
Verb query_verb();
Verb ranks_verb();
Verb metrics_verb();
Verb energy_verb();
Verb calibrate_verb();
Verb ceilings_verb();
Verb work_verb();
Verb monitor_verb();
Verb record_verb();
Verb start_verb();
Verb doctor_verb();
Verb overhead_verb();

}  // namespace gf::cli
