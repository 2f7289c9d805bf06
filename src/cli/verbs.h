// Every verb says what it takes and does. Those that ask a driver are in cli/live.
// The answer over several ranks, which `ranks` gives and `analyze` of several files leads to.
#pragma once

#include <optional>

#include "cli/options.h"
#include "cli/output.h"
#include "session/ranks.h"

namespace gf::cli {

Verb analyze_verb();
Verb benchmark_verb();
Verb compare_verb();
Verb export_verb();
Verb import_verb();
Verb path_verb();
Verb query_verb();
Verb ranks_verb();
Verb reproduce_verb();
Verb metrics_verb();
Verb energy_verb();
Verb work_verb();
Verb whatif_verb();

/// Those that ask a driver; none in a build that only reads captures (GPUFATHOM_LIVE=OFF).
std::vector<Verb> live_verbs();

/// The formats that are read, how such files are made, and the tools whose files are known.
std::string formats_help();

/// The treatment of an incomplete result.
enum class Incomplete { answer, refuse };

/// Reads, analyses and writes; gives the exit code.
int answer_ranks(const RankInputs& input, const OutputOptions& output,
                 std::optional<std::size_t> rows, Incomplete incomplete);

// The command line. One verb, one file: verb_NAME.cpp defines `Verb NAME_verb()`, which stands in
// the list of cli.cpp or of live/verbs.cpp. Exit codes: docs/cli.md.

/// Runs the program; returns the exit code.
int run(int argc, const char* const* argv);

/// A driver's call has not come back: the program must end with std::_Exit, for destructors of
/// static objects would pull the driver from under it.
bool driver_hangs();

}  // namespace gf::cli
