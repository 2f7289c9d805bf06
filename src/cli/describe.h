// The command line for other programs, made from the verbs' declarations.
#pragma once

#include <span>
#include <string>

#include "cli/options.h"

namespace gf::cli {

/// gpufathom(1) in the man macros.
std::string man_page(std::span<const Verb> verbs);

/// What bash, zsh or fish reads to complete verbs, options, closed lists of values and files; empty
/// for another shell.
std::string completion_script(const std::string& shell, std::span<const Verb> verbs);

}  // namespace gf::cli
