// The shift between two clocks at which the kernels that ran during each sample explain what its
// counters read: least squares of the samples by classes of kernels at every shift within reach.
// One that hardly explains more than another far from it is no answer: a program whose steps are
// alike to the microsecond fits itself one step later as well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyze/kernel_rates/columns.h"
#include "core/intervals.h"

namespace gf {

/// A sample as the search sees it.
struct Observation {
  Interval span;
  std::vector<double> values;  // of the metrics that guide the search
};

enum class ShiftVerdict : std::uint8_t {
  no_samples,  // none over the kernels, or too few
  no_pattern,  // their values hardly change
  no_fit,      // no shift within reach explains half of how they change
  ambiguous,   // several shifts explain them alike
  found,
};

struct ShiftFound {
  ShiftVerdict verdict = ShiftVerdict::no_samples;
  Nanos shift = 0, rival_shift = 0;
  double error = 1, rival_error = 1;  // share of the variance not explained; of the best shift that
                                      // lies apart from the one found
  double certainty = 0;  // by how many standard deviations more samples agree with the one found
  std::vector<std::vector<double>> rates;  // [metric][class] at the shift found
  std::vector<double> errors;              // [metric]: share of the variance not explained
};

/// Takes samples in order of time; `traced`: where every kernel is known.
ShiftFound find_shift(const std::vector<Observation>& samples, const ClassTimes& classes,
                      const Intervals& traced);

/// The objective of the search at one shift, for tests: by sample, the squared error over the
/// metrics' variances, their mean; NaN for samples whose kernels are not known there.
std::vector<double> shift_errors(const std::vector<Observation>& samples, const ClassTimes& classes,
                                 const Intervals& traced, Nanos shift);

/// The shift around `centre` with the least error, looked for in ever finer steps.
template <class Error>
Nanos least_error_shift(Error&& error, Nanos centre, Nanos reach, Nanos step) {
  constexpr Nanos kFinest = 2 * kNsPerUs;
  for (;;) {
    Nanos best = centre;  // unless another is better: where nothing tells, nothing moves
    double least = error(centre);
    for (Nanos shift = centre - reach; shift <= centre + reach; shift += step)
      if (const double here = error(shift); here < least) {
        least = here;
        best = shift;
      }
    if (step <= kFinest) return best;
    centre = best;
    reach = step;
    step = std::max<Nanos>(step / 8, kFinest);
  }
}

}  // namespace gf
