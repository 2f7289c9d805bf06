// Sentences that text and page share: totals over devices and the headline.
// Completeness of a result: what exit code 0 promises.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/result.h"
#include "model/capture.h"

namespace gf {

/// Time that there was: the windows of all devices together.
Nanos device_time(const Analysis& analysis);

/// Idle causes and waterfall bars summed over the devices, in the order of the first device. With
/// one device these are its own.
std::vector<IdleCause> idle_of_all(const Analysis& analysis);
std::vector<WaterfallBar> waterfall_of_all(const Analysis& analysis);

/// One or two sentences that give the answer: how busy, how deep, and the largest loss.
std::string headline(const Analysis& analysis);

struct NamedEnergy {
  std::string name;
  std::int64_t nj = 0;
};
/// What a headline says of energy: the largest parts, the others together, and always what is not
/// explained, last. They sum to the energy of all devices exactly.
std::vector<NamedEnergy> energy_headline_parts(const EnergyUse& energy);

/// "step 7", "step 5 (start-up)".
std::string step_label(const StepInfo& step);
/// "3 steps, 149.5 ms", "whole capture, 2.0 s".
std::string window_label(const WindowInfo& window);
/// The subject of the measurement: "NVIDIA H200, 2 steps, 98.02 ms".
std::string subject(const Analysis& analysis);

/// The reasons why the answer does not cover all that was asked, one sentence each; empty when it
/// is whole. An answer is whole when no event was lost to damage (quality.def), a device did
/// something in the window, and a counter report that was given belongs to the trace. Doubts that
/// lose nothing (rounded counters, missing launch records) do not count.
std::vector<std::string> shortcomings(const Analysis& analysis);

/// The same for what is told of a capture without analyzing it: what its quality says is missing.
std::vector<std::string> shortcomings(const Capture& capture);

// The bottleneck of a run, as the end of its headline.

/// Kernels by layer type where the finding kernel_bound says that they are the limit; otherwise, or
/// where it is worth as much, the largest part of the time in which the device did less than it
/// could. Sentences, each with a space before it.
std::string limit_of(const Analysis& analysis);

/// True when the waterfall shows kernels without counters by layer type: they fill most of it.
bool shows_kernel_types(const WaterfallBar& bar, Nanos window);

}  // namespace gf
