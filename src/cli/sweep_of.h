// Many runs that become one sweep, for `compare` and `reproduce`: captures, and rows of a table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/sweep/sweep.h"
#include "cli/output.h"
#include "session/answer.h"

namespace gf::cli {

struct SweepOptions {
  std::vector<std::string> captures, counters, tables;
  std::string axes, window, devices;
  OutputOptions output;
  InputOptions limits;  // max_bytes and threads
  std::size_t least_runs = 2;
};

struct SweepAnswer {
  SweepAnswer() = default;
  SweepAnswer(int code) : exit_code(code) {}
  std::optional<Sweep> sweep;  // empty: the exit code says why, and so did standard error
  int exit_code = kWhole;
};

/// The axes that --axes takes.
std::vector<std::string> axis_names();

SweepAnswer sweep_of(const SweepOptions& options);

}  // namespace gf::cli
