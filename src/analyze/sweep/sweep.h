// Many runs of one program over its settings: throughput, levels and memory over the batch, the
// distribution of every level over the kernels. analyze/claims judges publications by it.
// The axes of a sweep, and how they are read from the names of files.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "analyze/result.h"
#include "core/error.h"

namespace gf {

#define GF_RESULTS "analyze/results/sweep.def"
#include "analyze/declare_results.inl"

/// A kernel of a run with its levels; of some tables all that have one name.
struct SweepKernel {
  std::int64_t count = 0;
  Nanos ns = 0;
  std::vector<SweepLevel> levels;
  LayerType layer = LayerType::other;
};

/// Measurements of one configuration. `step_seconds` has one entry for every repeat; without any,
/// run.throughput may be set. Empty axes are not known.
struct SweepInput {
  SweepRun run;
  std::vector<double> step_seconds;
  std::vector<double> step_joules;  // of all devices; an entry for every repeat that measured it
  double joules_doubt = 0;          // of each of them, relative: half of a 95 % interval
  std::vector<std::string> boards;  // whose sensors measured it; empty: not known
  double flops_per_item = 0;        // 0: not known
  std::vector<SweepKernel> kernels;
};

/// A configuration from the analysis of its capture: step time, levels, kernels, device, framework.
/// The batch and the other axes are the caller's.
SweepInput sweep_input(const Analysis& analysis, const Context& context);

/// The mean of a level's repeats, and what they range over.
void set_repeats(const std::vector<double>& values, SweepLevel& level);

/// Orders the runs into series (all axes but the batch alike). `axes` are those that were asked
/// for; the ones that vary are added.
Sweep make_sweep(std::vector<SweepInput> inputs, std::vector<std::string> axes);

/// The value of a level; empty without data.
Share level_of(const SweepRun& run, std::string_view id);

/// The text axes by name, in the order in which a series is named; `batch` is the other one.
struct SweepAxis {
  std::string_view name;
  std::string SweepRun::* member;
};
std::span<const SweepAxis> sweep_axes();
bool is_sweep_axis(std::string_view name);

/// "H100" of "NVIDIA H100 80GB HBM3": in the name of a series, without vendor and memory.
std::string gpu_in_names(std::string_view product);

/// Fills what the run lacks from the words of the file's name, split at '_', '-', '.', and where
/// a known word begins with letters and ends with a number ("b64", "bs64", "batch64"): precision,
/// mode, framework, GPU, batch. The words before the first known one are the model.
void read_axes_from_name(std::string_view path, SweepRun& run);

// The table of a sweep: one row a configuration, with its axes and either the name of its capture
// or what was measured.

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
