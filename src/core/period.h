// The period of a signal that repeats: steps of a program that has no marks.
#pragma once

#include <optional>
#include <span>

namespace gf {

struct Period {
  double samples = 0;     // length in samples, mostly not whole
  double confidence = 0;  // normalised autocorrelation after whole periods, at most 1
};

/// The shortest strong period between 3 samples and a quarter of the signal, whose values are
/// shares of 0 to 1, each the mean over its sample. Empty when nothing repeats, and where the
/// samples cannot tell the period: docs/samples.md.
std::optional<Period> find_period(std::span<const float> signal);

}  // namespace gf
