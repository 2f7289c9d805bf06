// `gpufathom compare` over many runs: --axes and --table.
#pragma once

#include <string>
#include <vector>

#include "cli/output.h"

namespace gf::cli {

struct SweepOptions {
  std::vector<std::string> captures, counters;
  std::string axes, table, window;
  OutputOptions output;
};

int compare_sweep(const SweepOptions& options);

}  // namespace gf::cli
