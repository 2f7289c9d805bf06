// A rank's use of NCCL: a dump of the flight recorder that PyTorch keeps of its collectives
// (what it asked for, in order, and how far that came), or a log of NCCL's own inspector.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/time.h"

namespace gf {

/// Progress of a collective, by the rank's own watchdog.
enum class DumpState : std::uint8_t { scheduled, started, completed };

struct DumpEntry {
  std::string group, operation, sizes, where;  // where: the program's frame, "train.py:12"
  std::int64_t sequence = -1;                  // in its group, equal on all of its ranks
  DumpState state = DumpState::scheduled;
  /// When the program asked for it, on the clock of the rank's host; of an inspector when its
  /// kernel began, on a clock that shows the same on all ranks when the collective ends.
  Nanos created = -1;
};

struct DumpGroup {
  std::string description;
  std::vector<std::int64_t> ranks;  // numbers in the job; empty: not known
};

struct NcclDump {
  std::string path, version;
  std::int64_t rank = -1;  // by the file's name
  std::map<std::string, DumpGroup> groups;
  std::vector<DumpEntry> entries;   // collectives alone, as the ring buffer had them
  std::int64_t point_to_point = 0;  // sends and receives among its entries
  bool by_inspector = false;        // of NCCL's inspector: how long collectives that ended took
};

}  // namespace gf
