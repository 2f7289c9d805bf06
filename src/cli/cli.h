// The command line. One verb, one file: verb_NAME.cpp defines `void add_NAME(CLI::App&, int&
// exit_code)` and stands in the list of cli.cpp. Exit codes: 0 the answer is whole, 1 bad input, 2
// wrong usage.
#pragma once

namespace gf::cli {

/// Runs the program; returns the exit code.
int run(int argc, const char* const* argv);

}  // namespace gf::cli
