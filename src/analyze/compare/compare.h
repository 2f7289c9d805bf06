// Two or more runs side by side: what of the difference in step time comes from where.
#pragma once

#include <string>
#include <vector>

#include "analyze/result.h"

namespace gf {

struct ComparedRun {
  std::string path, device, step_source;
  std::int64_t steps = 0;
  Nanos total_ns = 0;  // the windows of all devices together
  Nanos time_ns = 0;   // of one step, or of the window: what the rows of this run sum to
  Share speedup;       // time of the first run over the time of this one
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("path", &ComparedRun::path, "input file");
    visit("device", &ComparedRun::device, "product name of its first device");
    visit("step_source", &ComparedRun::step_source, "what made its steps");
    visit("steps", &ComparedRun::steps, "steps in its window");
    visit("total_ns", &ComparedRun::total_ns, "windows of all its devices together");
    visit("time_ns", &ComparedRun::time_ns,
          "the same for one step, rounded; without steps the total");
    visit("speedup", &ComparedRun::speedup, "time of the first run over the time of this one");
  }
};

/// One part of the time, for every run in the order of `runs`.
struct ComparedTime {
  std::string kind;  // idle, copy, layer_type; bar, of samples alone; layer; kernel
  std::string name;
  std::string label;  // short, for tables
  std::vector<Nanos> ns, change_ns;
  std::vector<double> count;  // kernel instances a step
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("kind", &ComparedTime::kind,
          "idle, copy, layer_type, layer, kernel or, of samples alone, bar");
    visit("name", &ComparedTime::name, "cause, layer, kernel or bar");
    visit("label", &ComparedTime::label,
          "the same for a table: kernels by their short name, and their operator where several "
          "share one");
    visit("ns", &ComparedTime::ns, "device time, by run");
    visit("change_ns", &ComparedTime::change_ns, "less that of the first run, by run");
    visit("count", &ComparedTime::count, "kernel instances a step, by run");
  }
};

struct ComparedLevel {
  std::string id;
  std::vector<Share> value;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &ComparedLevel::id, "metric id");
    visit("value", &ComparedLevel::value, "share of the window, by run");
  }
};

struct Comparison {
  std::string schema = "gpufathom.comparison/1";
  std::string per;  // step, or window when a run has no steps
  std::vector<ComparedRun> runs;
  std::vector<ComparedLevel> levels;
  std::vector<ComparedTime>
      time;  // idle causes, copies, layer types, or bars: sum to time_ns of each run
  std::vector<ComparedTime>
      layers;  // modules or operators by phase: sum to the kernel time of each run
  std::vector<ComparedTime> kernels;  // by kernel: sum to the kernel time of each run
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &Comparison::schema, "name and version of this layout");
    visit("per", &Comparison::per, "what times are of: a step or the window");
    visit("runs", &Comparison::runs, "the runs, in the order given");
    visit("levels", &Comparison::levels, "the ladder of each run");
    visit("time", &Comparison::time,
          "idle causes, copies and layer types, or bars of the waterfall; sum to time_ns");
    visit("layers", &Comparison::layers, "kernel time by layer");
    visit("kernels", &Comparison::kernels, "kernel time by kernel");
  }
};

/// Compares whole analyses (max_rows = 0). Times are of one step when every run has steps in its
/// window, and whole nanoseconds: a run's time_ns is the total over its steps, rounded, and its
/// parts are apportioned so that they sum to it exactly. So do the changes. Rows are ordered by the
/// largest change of any run.
Comparison compare(const std::vector<Analysis>& runs);

}  // namespace gf
