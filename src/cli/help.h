// Help and complaints about options in our words and in the terminal's width; CLI11's own run past
// it.
#pragma once

#include <CLI/CLI.hpp>

namespace gf::cli {

/// Gives `app`, and the verbs that are added to it later, their help, and complaints that name the
/// verb's help.
void set_up_help(CLI::App& app);

/// A number above 0, and one of 0 or more. CLI11's say the bounds of a double, digit for digit.
CLI::Validator positive();
CLI::Validator not_negative();

}  // namespace gf::cli
