// What text and page both say of an analysis: totals over its devices and the headline.
#pragma once

#include <string>
#include <vector>

#include "analyze/result.h"

namespace gf {

/// Time that there was: the windows of all devices together.
Nanos device_time(const Analysis& analysis);
Share share_of(Nanos part, Nanos whole);

/// Idle causes and waterfall bars summed over the devices, in the order of the first device. With
/// one device these are its own.
std::vector<IdleCause> idle_of_all(const Analysis& analysis);
std::vector<WaterfallBar> waterfall_of_all(const Analysis& analysis);

/// One or two sentences that give the answer: how busy, how deep, and the largest loss.
std::string headline(const Analysis& analysis);
/// What was measured: "NVIDIA H200, 2 steps, 98.02 ms".
std::string subject(const Analysis& analysis);

}  // namespace gf
