// The table of a sweep: one row a configuration, with its axes and either the name of its capture
// or what was measured.
#pragma once

#include <string>
#include <vector>

#include "analyze/sweep/sweep.h"
#include "core/error.h"

namespace gf {

struct SweepRow {
  SweepInput input;      // axes and measurements that the table gives
  std::string capture;   // to be analyzed; empty: the table has the numbers
  std::string counters;  // its counter report
  std::string window;    // of it
};

/// Reads a table of JSON or, by its content, CSV. Names of captures are relative to the table. Rows
/// of runs that did not fit into memory are left out.
Result<std::vector<SweepRow>> read_sweep_table(const std::string& path);

}  // namespace gf
