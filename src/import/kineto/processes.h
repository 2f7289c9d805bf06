// Which process launched what ran on the devices, where one file holds the traces of several.
#pragma once

#include <cstdint>
#include <vector>

#include "model/capture.h"

namespace gf::kineto {

/// From this row of activities on, the file told last of this process's host.
struct ProcessTurn {
  std::uint32_t activity;
  std::int64_t pid;
};

/// Raw traces put into one file number their calls alike, each from 1, and Kineto does not say
/// whose an activity is. It belongs to the process whose host events are next to it in the file, or
/// else to the one whose calls fit the device's activities: none begins before its launch, or ends
/// after a call that waited for it returned. Where neither tells, activities keep no process.
/// True where the file told: then processes that give their devices the same numbers are known
/// apart.
bool tell_processes(Capture& capture, const std::vector<ProcessTurn>& turns);

}  // namespace gf::kineto
