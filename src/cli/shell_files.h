// The files that a package installs for a shell's user: the man page and the completions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/options.h"

namespace gf::cli {

/// gpufathom(1) in the man macros.
std::string man_page(std::span<const Verb> verbs);

/// Completes verbs, options, their values and files. `pages`: other words that `help` takes. Empty
/// for a shell other than bash, zsh and fish.
std::string completion_script(std::string_view shell, std::span<const Verb> verbs,
                              std::span<const std::string_view> pages);

}  // namespace gf::cli
