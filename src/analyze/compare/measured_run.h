// The input of a verdict: the steps of a capture, each with the time of its kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyze/compare/roles.h"
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
  ProfilerFacts profiler;
  std::string device;  // product name of the first
  std::optional<std::int64_t> rank;
  std::uint64_t rows = 0;  // digest of its kernels: equal for the same capture
  RoleSteps roles;         // of the window's steps

  template <class Visit>
  static void fields(Visit&& visit) {
    visit("path", &MeasuredRun::path, "capture");
    visit("step_source", &MeasuredRun::step_source, "what made its steps");
    visit("step_ns", &MeasuredRun::step_ns, "by step");
    visit("kernel_ns", &MeasuredRun::kernel_ns, "kernel time by step");
    visit("kernels", &MeasuredRun::kernels, "kernels a step");
    visit("started", &MeasuredRun::started, "when it was recorded");
    visit("missing", &MeasuredRun::missing, "share of kernel time that may be missing");
    visit("extra", &MeasuredRun::extra, "share that may be too much");
    visit("profiler", &MeasuredRun::profiler, "what recorded it");
    visit("device", &MeasuredRun::device, "product name");
    visit("rank", &MeasuredRun::rank, "rank of a job");
    visit("rows", &MeasuredRun::rows, "digest of its kernels");
    visit("roles", &MeasuredRun::roles, "by step and role");
  }
};

MeasuredRun measured_run(const Context& context, const Analysis& analysis, RoleSteps roles);

/// The period of a sampled device's activity, where it is clear.
std::optional<double> sampled_step(const Analysis& analysis);

/// The same of an answer alone: steps, and nothing of kernels.
MeasuredRun measured_steps(const Analysis& analysis);

/// One version's captures.
using MeasuredVersion = std::vector<MeasuredRun>;

/// The time of a version's captures by `times`, for the engine of verdicts. `of_kernels`: what
/// doubts of the captures leave open counts.
MeasuredSide side_of(const MeasuredVersion& version, const MeasuredVersion& other,
                     const std::function<StepTimes(const MeasuredRun&)>& times, bool of_kernels);

/// The change between two versions' steps and kernels; empty where nothing tells the noise.
struct MeasuredChange {
  std::optional<MeasuredRatio> step, kernels;
  /// The reason why a limit on the step or on the kernels is not judged; empty: it is.
  std::string step_refused, kernels_refused;
  /// The reason why nothing is judged.
  std::string refused;
};
MeasuredChange measure_change(const MeasuredVersion& before, const MeasuredVersion& after);

}  // namespace gf
