// Counters of single kernels without replay: samples of the whole GPU, each a mixture of the
// kernels that ran during it, taken apart by least squares over many instances. sample = sum over
// kernels (share of the sample x the kernel's rate); rates are not negative. A kernel that never
// ran apart from its neighbors has no rate of its own: it is called not resolvable, never given a
// number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/kernel_rates/columns.h"
#include "analyze/kernel_rates/find_shift.h"
#include "core/time.h"
#include "model/capture.h"

namespace gf {

struct KernelRate {
  double value = 0;       // mean of the metric while the kernel runs: a ratio 0..1, or units per
                          // nanosecond for counts
  double half_width = 0;  // of the 95 % interval, with what kernels may differ by within their
                          // group and the model may miss
  bool resolvable = false;
};

struct KernelRates {
  std::vector<KernelGroup> groups;  // most time first
  std::vector<std::uint32_t>
      group_of;  // by row of activities; kNoRow for what is no kernel of the device
  std::vector<Text> metrics;
  std::vector<std::vector<KernelRate>> rates;  // [metric][group]
  std::vector<double> explained;  // [metric]: share of the samples' variance that the fit explains
  std::int64_t samples = 0;       // used
  Nanos shift_ns = 0;             // samples were moved by this (median) to lie over their kernels
  double fit_of_shift = 0;        // correlation of samples and solved rates after the shift, 0..1
  ShiftFound alignment;           // how the shift was found, or why there is none
};

/// Solves for one device (row of capture.devices). Empty metrics when there are no kernels, no
/// gpu.busy samples over them, or the two do not fit each other on one clock shift within 20 ms and
/// no other: `alignment.verdict` says which.
KernelRates solve_kernel_rates(const Capture& capture, std::uint32_t device);

/// Adds what was solved as a counter report: one report kernel for each group of a device, with the
/// counters that the levels are made of; kernels that
/// are not resolvable lack them. Notes how in metadata. Gives the rates of every device, for an
/// analysis to use again (AnalyzeOptions::kernel_rates); nothing when nothing could be solved.
std::vector<KernelRates> add_solved_counters(Capture& capture);
/// True if the counters of the capture came that way, and not from a profiler.
bool has_solved_counters(const Capture& capture);

}  // namespace gf
