// What a monitor knows at one moment: the newest reading of every GPU, and what has added up since
// the monitor began.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/describe.h"
#include "core/time.h"

namespace gf {

struct LiveProcess {
  std::int64_t pid = -1;
  std::string name;
  std::int64_t memory_bytes = -1;
  static constexpr auto fields() {
    using P = LiveProcess;
    return std::tuple{field("pid", &P::pid, "process id"),
                      field("name", &P::name, "process name, empty when out of sight"),
                      field("memory_bytes", &P::memory_bytes, "GPU memory it holds, -1 unknown")};
  }
};

/// One GPU, or one MIG instance of it. A metric that is not in `values` has no data.
struct LiveGpu {
  std::int64_t index = -1;
  std::string name, uuid;
  std::string instance;  // MIG: "GPU instance/compute instance", else empty
  std::string source;    // gpm, pm_sampling or nvml: where the utilisation levels come from
  std::string missing;   // why levels are missing, one sentence; empty when none are
  Nanos window_ns = 0;   // the levels are averages over this span
  std::map<std::string, double> values;  // metric id -> newest value, in the catalogue's unit
  std::map<std::string, double>
      totals;  // counters since the monitor or the driver began: seconds, joules, bytes
  std::vector<std::string> throttle;  // why clocks are held down now
  std::vector<LiveProcess> processes;
  static constexpr auto fields() {
    using G = LiveGpu;
    return std::tuple{
        field("index", &G::index, "GPU number, as nvidia-smi counts"),
        field("name", &G::name, "product name"),
        field("uuid", &G::uuid, "UUID"),
        field("instance", &G::instance,
              "MIG instance, GPU instance/compute instance; empty for a whole GPU"),
        field("source", &G::source, "where levels come from: gpm, pm_sampling, nvml"),
        field("missing", &G::missing, "why levels are missing"),
        field("window_ns", &G::window_ns, "span that the levels are averaged over"),
        field("values", &G::values, "newest value by metric id; an absent metric has no data"),
        field("totals", &G::totals, "counters since the monitor or the driver began"),
        field("throttle", &G::throttle, "why clocks are held down"),
        field("processes", &G::processes, "processes on it, most memory first")};
  }
};

struct LiveTable {
  std::string schema = "gpufathom.monitor/1";
  std::string host, driver;
  Nanos time_ns = 0;
  std::vector<LiveGpu> gpus;
  static constexpr auto fields() {
    using L = LiveTable;
    return std::tuple{field("schema", &L::schema, "name and version of this layout"),
                      field("host", &L::host, "host name"),
                      field("driver", &L::driver, "driver version"),
                      field("time_ns", &L::time_ns, "when, nanoseconds since 1970"),
                      field("gpus", &L::gpus, "GPUs and MIG instances")};
  }
};

}  // namespace gf
