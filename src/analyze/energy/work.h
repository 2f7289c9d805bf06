// Work of a device's kernels in the columns of the energy model: from a counter report, or from
// samples of the whole GPU.
// Features of the energy model from the counters of a report.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/energy/model.h"
#include "analyze/kernel_rates/kernel_rates.h"
#include "analyze/vocabulary.h"
#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

/// nullptr where neither compute capability nor name tell.
const Chip* chip_at(const Capture& capture, std::uint32_t device);

// Work that no model has a term for: what it takes is in the rest, which then reaches further.

/// Kinds of such work, a bit each.
using TermlessKinds = std::uint8_t;

struct TermlessWork {
  std::string_view what;      // for people
  std::string_view feature;   // the beginning of a feature's name that would be its term
  std::string_view counters;  // that show it in a report
  /// Joules that the model lacks at most, over those that it gives such a kernel above static
  /// power: of the kernels measured (docs/lab/energy.md); where none was, the largest of these.
  double lacks;
};
std::span<const TermlessWork> termless_work();

/// The most that the model lacks of a kernel with these kinds.
double lacking(TermlessKinds kinds);

/// Without the kinds that the model does have a term for, where it was counted.
TermlessKinds without_terms(TermlessKinds kinds, const EnergyEvaluator& model,
                            const std::vector<bool>& counted);

/// The kinds that a kernel's name tells, as far as the chip works so.
TermlessKinds termless_by_name(const Names& names, Text name, const Chip* chip);

/// Work of kernels that are alike. The rows of all instances, scaled, give the window.
struct KernelWork {
  std::vector<EnergyWork> rows;    // features of one instance, or of one nanosecond of it
  std::vector<EnergyWork> doubts;  // standard error of each row; empty when counted one by one
  std::vector<double> active;      // share of SMs with work while it runs, by row; NaN: not counted
  std::vector<std::uint32_t> row_of;  // by row of activities; kNoRow: no counts
  bool per_ns = false;
  std::vector<bool> counted;            // by column: some counter gave it
  std::vector<TermlessKinds> termless;  // by row, of the kinds that are counted; empty: none is
  TermlessKinds termless_counted = 0;   // kinds that some counter shows
};

/// From the matched rows of a counter report; `report_row` by row of activities.
KernelWork reported_work(const Capture& capture, const Column<std::uint32_t>& report_row,
                         const EnergyEvaluator& model);

/// From rates solved out of samples, by kernel. Rows are empty when samples and kernels cannot be
/// laid over each other.
KernelWork sampled_work(const Capture& capture, std::uint32_t device, const KernelRates& solved,
                        const EnergyEvaluator& model);

/// All that was sampled in a span: features, and seconds x share of SMs with work.
struct SampledWindow {
  EnergyWork work;            // scaled to the whole span
  std::vector<bool> counted;  // by column
  double coverage = 0;        // share of the span that lies in samples
  double hertz = 0;           // mean SM clock, by its cycles where they were sampled; 0: unknown
};
SampledWindow sampled_window(const Capture& capture, std::uint32_t device, Interval span,
                             const EnergyEvaluator& model);

/// Value of "a + b" or "4 * a", where names are counters; "x | y" takes the first whose counters
/// are all there. Empty without.
std::optional<double> evaluate_counters(std::string_view expression,
                                        const std::map<std::string, double, std::less<>>& counters);

/// All numeric counters of every kernel of the report, by row of report_kernels.
std::vector<std::map<std::string, double, std::less<>>> counters_by_kernel(const Capture& report);

/// The number of times that each known feature happened in a kernel; features whose counters are
/// missing are absent.
std::map<std::string, double> energy_counts(
    const std::map<std::string, double, std::less<>>& counters);

/// The counters of an expression, each once for every time that it is named; of its first
/// alternative.
std::vector<std::string> counters_in(std::string_view expression);

/// Every counter that the features need on an H100, for the command line of a profiler.
std::vector<std::string> energy_counter_names();

}  // namespace gf
