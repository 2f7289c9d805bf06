// The command line. One verb, one file: verb_NAME.cpp defines `Verb NAME_verb()`, which stands in
// the list of cli.cpp or of live/verbs.cpp. Exit codes: docs/cli.md.
#pragma once

namespace gf::cli {

/// Runs the program; returns the exit code.
int run(int argc, const char* const* argv);

/// A driver's call has not come back: the program must end with std::_Exit, for destructors of
/// static objects would pull the driver from under it.
bool driver_hangs();

}  // namespace gf::cli
