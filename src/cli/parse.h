// The words of a command line, given to a verb's options.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"

namespace gf::cli {

struct Parsed {
  bool wants_help = false;
  std::string complaint;                     // what is wrong, empty when nothing is
  std::vector<std::string> inputs, outputs;  // files that were named
};

/// `words`: what follows the verb's name.
Parsed parse(const Verb& verb, const std::vector<std::string>& words);

}  // namespace gf::cli
