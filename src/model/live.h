// A monitor's data at one moment: the newest reading of every GPU, and what has added up since
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
  std::map<std::string, std::string> job;  // job.rank, job.id, container.id and their like
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("pid", &LiveProcess::pid, "process id");
    visit("job", &LiveProcess::job,
          "whose work it is: rank, job, user, container, pod, as far as "
          "its environment says");
    visit("name", &LiveProcess::name, "process name, empty when out of sight");
    visit("memory_bytes", &LiveProcess::memory_bytes, "GPU memory it holds, -1 unknown");
  }
};

/// An error that the driver reported ("XID"), and how often.
struct LiveXid {
  std::int64_t code = 0, count = 0;
  Nanos time_ns = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("code", &LiveXid::code, "XID code, as in dmesg");
    visit("count", &LiveXid::count, "how often since the monitor began");
    visit("time_ns", &LiveXid::time_ns, "when the newest was read, nanoseconds since 1970");
  }
};

/// One GPU, or one MIG instance of it. A metric that is not in `values` has no data.
struct LiveGpu {
  std::int64_t index = -1;
  std::string name, uuid;
  Nanos time_ns = 0;      // when it was read; 0: never yet
  bool stale = false;     // that is too long ago: the values are gone
  std::string instance;   // MIG: "GPU instance/compute instance", else empty
  std::string source;     // gpm, pm_sampling or nvml: where the utilization levels come from
  std::string missing;    // why levels are missing, one sentence; empty when none are
  Nanos window_ns = 0;    // the levels are averages over this span
  Nanos observed_ns = 0;  // and so many such spans have added up in `totals`
  std::map<std::string, double> values;  // metric id -> newest value, in the catalog's unit
  std::map<std::string, double>
      totals;  // counters since the monitor or the driver began: seconds, joules, bytes
  std::vector<std::string> throttle;  // why clocks are held down now
  std::vector<LiveXid> xids;          // by code; empty: none came, or the driver tells of none
  std::vector<LiveProcess> processes;
  double held_idle_seconds = -1;  // processes hold memory and nothing has run for so long; -1: no
                                  // process, or nothing is known
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("index", &LiveGpu::index, "GPU number, as nvidia-smi counts");
    visit("name", &LiveGpu::name, "product name");
    visit("uuid", &LiveGpu::uuid, "UUID");
    visit("time_ns", &LiveGpu::time_ns, "when it was read, nanoseconds since 1970; 0 never yet");
    visit("stale", &LiveGpu::stale, "the driver does not answer: the values are gone");
    visit("instance", &LiveGpu::instance,
          "MIG instance, GPU instance/compute instance; empty for a whole GPU");
    visit("source", &LiveGpu::source, "where levels come from: gpm, pm_sampling, nvml");
    visit("missing", &LiveGpu::missing, "why levels are missing");
    visit("window_ns", &LiveGpu::window_ns, "span that the levels are averaged over");
    visit("observed_ns", &LiveGpu::observed_ns,
          "sum of these spans since the monitor began, over which totals of levels added up");
    visit("values", &LiveGpu::values, "newest value by metric id; an absent metric has no data");
    visit("totals", &LiveGpu::totals, "counters since the monitor or the driver began");
    visit("throttle", &LiveGpu::throttle, "why clocks are held down");
    visit("xids", &LiveGpu::xids, "XID errors since the monitor began, by code");
    visit("held_idle_seconds", &LiveGpu::held_idle_seconds,
          "for how long processes have held memory while nothing ran; 0 while something runs, -1 "
          "when no process holds any");
    visit("processes", &LiveGpu::processes, "processes on it, most memory first");
  }
};

/// The steps of one kind of a serving engine in a window of kernels. A value that is not known is
/// absent.
struct LiveStepKind {
  std::string kind;
  std::map<std::string, double> values;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("kind", &LiveStepKind::kind, "prefill, decode, mixed, chunked, speculative or unknown");
    visit("values", &LiveStepKind::values,
          "by name: steps and tokens a second, share of the time, joules a token, seconds of a "
          "step");
  }
};

/// Work of a program that serves, in the newest window of its kernels.
struct LiveServing {
  std::int64_t pid = -1;
  std::string name;
  Nanos time_ns = 0;  // end of the window
  std::string source;
  std::int64_t engines = 1;
  std::map<std::string, double> values;
  std::vector<LiveStepKind> kinds;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("pid", &LiveServing::pid, "process id");
    visit("name", &LiveServing::name, "process name");
    visit("time_ns", &LiveServing::time_ns, "end of the window, nanoseconds since 1970");
    visit("source", &LiveServing::source, "what shows the steps, as in window.step_source");
    visit("engines", &LiveServing::engines,
          "engines that the window shows; the steps are of one of them");
    visit(
        "values", &LiveServing::values,
        "by name: tokens a second, joules a token, requests of a step, seconds between tokens and "
        "to the first");
    visit("kinds", &LiveServing::kinds, "by kind of step");
  }
};

struct LiveTable {
  std::string schema = "gpufathom.monitor/1";
  std::string host, driver;
  Nanos time_ns = 0;
  Nanos stale_after_ns = 0;  // readings older than this show nothing any more; 0: none grows old
  std::vector<LiveGpu> gpus;
  std::vector<LiveServing> serving;  // programs whose steps are watched, by process
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &LiveTable::schema, "name and version of this layout");
    visit("host", &LiveTable::host, "host name");
    visit("driver", &LiveTable::driver, "driver version");
    visit("time_ns", &LiveTable::time_ns, "when, nanoseconds since 1970");
    visit("stale_after_ns", &LiveTable::stale_after_ns,
          "age from which on a reading shows nothing any more");
    visit("gpus", &LiveTable::gpus, "GPUs and MIG instances");
    visit("serving", &LiveTable::serving, "programs that serve, with --steps");
  }
};

/// Takes the values out of readings that are too old at `now`, so that nobody takes them for news,
/// and says since when the driver has not answered.
void drop_stale(LiveTable& table, Nanos now);

}  // namespace gf
