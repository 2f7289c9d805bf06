// The period of a signal that repeats: steps of a program that has no marks.
// What looks like a period and need not be one of the work.
#pragma once

#include <optional>
#include <span>

namespace gf {

struct Period {
  double samples = 0;     // length in samples, mostly not whole
  double confidence = 0;  // normalized autocorrelation after whole periods, at most 1
};

/// The shortest strong period between 3 samples and a quarter of the signal, whose values are
/// shares of 0 to 1, each the mean over its sample. Empty when nothing repeats, and where the
/// samples cannot tell the period: docs/samples.md.
std::optional<Period> find_period(std::span<const float> signal);

/// True when a signal stands still but for dips that take less than about a fifteenth of the time:
/// waiting for the GPU after many steps looks so, whatever the steps are.
bool only_pauses(std::span<const float> signal);

/// The most that samples of a level can vary when its true period is so short that it comes out as
/// one of `samples`: period 1.3 looks like 4.3, as every third sample meets the next phase. A
/// sample then averages over most of a period. The level lies in 0..1 and has this mean.
double most_variance_of_faster(double samples, double mean);

}  // namespace gf
