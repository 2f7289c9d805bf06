// What a verdict is made of: the steps of a capture, each with the time of its kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/compare/verdict.h"
#include "analyze/context.h"
#include "analyze/result.h"
#include "core/error.h"

namespace gf {

/// One capture of a version.
struct MeasuredRun {
  std::string path;
  std::string step_source;
  StepTimes step_ns;              // of the steps, in order, without start-up; of none the window's
  StepTimes kernel_ns;            // of the same; a kernel counts where it was launched
  double kernels = 0;             // kernels a step, in the middle
  std::optional<Nanos> started;   // on a clock that other captures share
  double missing = 0, extra = 0;  // of kernel time, what doubts of the capture leave open
  bool stacks = false;            // the profiler recorded Python's stacks, which slows the host
  std::uint64_t rows = 0;         // digest of its kernels: equal for the same capture
};

MeasuredRun measured_run(const Context& context, const Analysis& analysis);

/// The same of an answer alone: steps, and nothing of kernels.
MeasuredRun measured_steps(const Analysis& analysis);

/// One version's captures.
using MeasuredVersion = std::vector<MeasuredRun>;

/// How two versions' steps and kernels compare; empty where nothing tells the noise.
struct MeasuredChange {
  std::optional<MeasuredRatio> step, kernels;
  /// Why a limit on the step, on the kernels is not judged; empty: it is.
  std::string step_refused, kernels_refused;
  /// Why nothing is judged.
  std::string refused;
};
MeasuredChange measure_change(const MeasuredVersion& before, const MeasuredVersion& after);

/// Two captures of one version that are the same one, as a sentence; empty: there are none.
std::string given_twice(const MeasuredVersion& version);

}  // namespace gf
