// What the host that launches a rank's work did in each step, and how far ahead of the device.
#pragma once

#include "analyze/context.h"
#include "analyze/ranks/names.h"
#include "analyze/steps/steps.h"

namespace gf {

/// Fills the collectives' ahead_ns of `part`, whose collectives are there.
void fill_queued(const Context& context, const DeviceTimeline& line, RankPart& part);

/// Fills hosts of `part`: the steps that `marks` gives, on the thread that makes them and the other
/// ones of its process that launch work.
void fill_hosts(const Context& context, const DeviceTimeline& line, const StepMarks& marks,
                RankPart& part, Texts& texts);

}  // namespace gf
