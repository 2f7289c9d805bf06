// The period of a signal that repeats: steps of a program that has no marks.
#pragma once

#include <optional>
#include <span>

namespace gf {

struct Period {
  double samples = 0;     // length in samples, interpolated
  double confidence = 0;  // normalised autocorrelation there, at most 1
};

/// The shortest strong period between 4 samples and a quarter of the signal; empty when nothing
/// repeats.
std::optional<Period> find_period(std::span<const float> signal);

}  // namespace gf
