// The facts of one rank's capture, small enough to be kept for thousands of ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "analyze/ranks/names.h"
#include "analyze/steps/steps.h"
#include "core/error.h"
#include "model/capture.h"

namespace gf {

// Activity of the host that launches a rank's work in each step, and how far ahead of the device.

/// Fills the collectives' ahead_ns of `part`, whose collectives are there.
void fill_queued(const Context& context, const DeviceTimeline& line, RankPart& part);

/// Fills hosts of `part`: the steps that `marks` gives, on the thread that makes them and the other
/// ones of its process that launch work.
void fill_hosts(const Context& context, const DeviceTimeline& line, const StepMarks& marks,
                RankPart& part, Texts& texts);

/// Rows of capture.activities by collective of a part.
using CollectiveRows = std::vector<std::uint32_t>;

/// One part for each rank in the capture: usually one, several where one file holds the devices or
/// processes of several ranks. `rows`, when given, receives the kernels behind the collectives of
/// each; `devices` is --devices (chosen_devices.h), `window` a text of --window (window.h). Errors:
/// a capture without device activities, or without the devices or the window that were asked for.
Result<std::vector<RankPart>> measure_ranks(const Capture& capture,
                                            std::vector<CollectiveRows>* rows = nullptr,
                                            std::string_view devices = {},
                                            std::string_view window = "all");

/// A group's ranks as recorded ("[0, 1]"), without spaces. Of more than sixteen, even steps are
/// told by their ends ("[0-2047]", "[0-2040/8]"): each of a job's parts carries the list.
std::string short_list(std::string_view ranks);

/// Reads what `gpufathom ranks --map` wrote.
Result<RankPart> read_rank_part(std::string_view json, const std::string& path);

}  // namespace gf
