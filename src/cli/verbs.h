// Every verb says what it takes and does. Those that ask a driver are in cli/live.
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
Verb work_verb();

/// Those that ask a driver; none in a build that only reads captures (GPUFATHOM_LIVE=OFF).
std::vector<Verb> live_verbs();

}  // namespace gf::cli
