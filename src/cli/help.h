// Help, made from the verbs' declarations, in the terminal's width.
#pragma once

#include <span>
#include <string>

#include "cli/options.h"

namespace gf::cli {

std::string program_help(std::span<const Verb> verbs);
std::string verb_help(const Verb& verb);

}  // namespace gf::cli
