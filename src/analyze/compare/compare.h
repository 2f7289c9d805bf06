// Compares two or more runs and attributes the step-time difference to its sources.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/call_tree.h"
#include "analyze/compare/roles.h"
#include "analyze/compare/run_facts.h"
#include "analyze/result.h"
#include "analyze/work/result.h"
#include "model/enums.h"

namespace gf {

struct MeasuredRun;

// The closed lists of a comparison, with the names that JSON uses.

/// The kind of a row of a comparison.
enum class ComparedRowKind : std::uint8_t { idle, copy, layer_type, layer, kernel, bar, phase };
template <>
struct EnumNames<ComparedRowKind> {
  static constexpr const char* type = "ComparedRowKind";
  static constexpr std::array<std::string_view, 7> names{"idle",   "copy", "layer_type", "layer",
                                                         "kernel", "bar",  "phase"};
};

/// The one row of ComparedRowKind::copy.
inline constexpr std::string_view kCopiesAndSets = "copies and sets";

/// The verdict on a run against the first.
enum class ComparedVerdict : std::uint8_t {
  faster,
  slower,
  no_difference,
  undecided,
  same_job,
  not_known,
  different_programs
};
template <>
struct EnumNames<ComparedVerdict> {
  static constexpr const char* type = "ComparedVerdict";
  static constexpr std::array<std::string_view, 7> names{
      "faster",   "slower",    "no_difference",     "undecided",
      "same_job", "not_known", "different_programs"};
};

/// The outcome of a --fail-on rule.
enum class CheckOutcome : std::uint8_t { ok, failed, undecided, refused };
template <>
struct EnumNames<CheckOutcome> {
  static constexpr const char* type = "CheckOutcome";
  static constexpr std::array<std::string_view, 4> names{"ok", "failed", "undecided", "refused"};
};

/// Settings that must be equal for two times to be comparable.
enum class ComparedSetting : std::uint8_t {
  device,
  device_count,
  batch,
  tokens,
  precision,
  profiler,
  steps,
  length,
  rank
};
template <>
struct EnumNames<ComparedSetting> {
  static constexpr const char* type = "ComparedSetting";
  static constexpr std::array<std::string_view, 9> names{"device", "device_count", "batch",
                                                         "tokens", "precision",    "profiler",
                                                         "steps",  "length",       "rank"};
};

/// Similarity of the work of two runs.
enum class ComparedProgram : std::uint8_t { same, other_size, different };
template <>
struct EnumNames<ComparedProgram> {
  static constexpr const char* type = "ComparedProgram";
  static constexpr std::array<std::string_view, 3> names{"same", "other_size", "different"};
};

/// The reason why something takes more time.
enum class CulpritKind : std::uint8_t { slower, replaced, more_calls, fresh, idle, few_steps };
template <>
struct EnumNames<CulpritKind> {
  static constexpr const char* type = "CulpritKind";
  static constexpr std::array<std::string_view, 6> names{"slower", "replaced", "more_calls",
                                                         "new",    "idle",     "few_steps"};
};

#define GF_RESULTS "analyze/results/comparison.def"
#include "analyze/declare_results.inl"

/// The letters of a run in sentences and tables: A, B, ... Z, AA, AB, ...
std::string run_letter(std::size_t run);

/// Compares whole analyses (max_rows = 0). Times are of one step when every run has steps in its
/// window, and whole nanoseconds: a run's time_ns is the total over its steps, rounded, and its
/// parts are apportioned so that they sum to it exactly. So do the changes. Rows are ordered by the
/// largest change of any run.
///
/// `facts`: of each run, or empty. `batches`: items of a step of each run, one for all, or empty:
/// then those of the shapes. `versions`: of each run, the captures that its version was measured
/// by (measured_run.h).
Comparison compare(const std::vector<Analysis>& runs, const std::vector<RunFacts>& facts,
                   const std::vector<std::int64_t>& batches,
                   const std::vector<std::vector<MeasuredRun>>& versions);

/// Input of a comparison inside operators, from one run.
struct RunDetails {
  std::vector<OperatorWork> operators;
  std::vector<CallNode> tree;  // over modules
  RunRoles roles;
  ComparedStrip strip;

  template <class Visit>
  static void fields(Visit&& visit) {
    visit("operators", &RunDetails::operators, "by shape");
    visit("tree", &RunDetails::tree, "call tree");
    visit("roles", &RunDetails::roles, "by role");
    visit("strip", &RunDetails::strip, "a step, for a picture");
  }
};
RunDetails run_details(const Context& context, const Analysis& analysis);

/// Adds roles, likeness, culprits, shapes, tree and strips; a run of another program loses its
/// verdict. `details` and `versions`: of each run, as in `comparison.runs`.
void compare_inside(Comparison& comparison, const std::vector<RunDetails>& details,
                    const std::vector<std::vector<MeasuredRun>>& versions);

}  // namespace gf
