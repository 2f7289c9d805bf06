// The axes of a sweep, and how they are read from the names of files.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyze/sweep/sweep.h"

namespace gf {

/// The text axes by name, in the order in which a series is named; `batch` is the other one.
struct SweepAxis {
  std::string_view name;
  std::string SweepRun::* member;
};
std::span<const SweepAxis> sweep_axes();
bool is_sweep_axis(std::string_view name);

/// Fills what the run lacks from the words of the file's name, split at '_', '-', '.', and where
/// a known word begins with letters and ends with a number ("b64", "bs64", "batch64"): precision,
/// mode, framework, GPU, batch. The words before the first known one are the model.
void read_axes_from_name(std::string_view path, SweepRun& run);

}  // namespace gf
