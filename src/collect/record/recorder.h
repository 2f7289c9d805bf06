// Records a program from beside it: counters, power and memory of the GPUs, CPU of the program's
// processes. The program is started as it would start alone; with kernels, a small library goes
// along into it (CUDA_INJECTION64_PATH).
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/time.h"
#include "model/record_summary.h"
#include "model/sample_block.h"

namespace gf {

struct Capture;

/// Goes along with a recording that has no end: sees what is recorded, and says into which file.
/// Called on the recording's thread, at every write.
class RecordFollower {
 public:
  virtual ~RecordFollower() = default;
  /// Takes what came since the last call: samples, and the rows of `capture`, whose texts and
  /// devices they name.
  virtual void saw(const Capture& capture, const std::vector<SampleBlock>& samples) = 0;
  /// The file for what comes from now on; empty: the same as before.
  virtual std::string next_file(Nanos now) = 0;
  /// The file before is whole.
  virtual void closed(Nanos now) = 0;
  /// Nobody wants the recording any longer.
  virtual bool over() = 0;
};

struct RecordOptions {
  std::vector<std::string> command;  // empty: record the machine for `duration_ns`
  int pid = 0;  // more than 0: instead of a command, a process that runs already, and its children
  bool keep_command = false;    // with its arguments, without secrets; else program and script
  std::string output;           // the capture; written while it grows
  std::string devices = "all";  // as select_devices() takes them; empty: those of the program
  double rate_hz = 1000;        // counter samples a second
  std::int64_t interval_ns() const { return std::llround(1e9 / rate_hz); }  // between two of them
  std::string source = "auto";  // auto, pm, gpm, nvml: the finest source to try
  std::string metrics =
      "levels";  // levels, caches, energy: which counters fill the one pass that can be sampled
  Nanos duration_ns =
      0;  // stop recording after this long (the program goes on), 0: until the program ends
  bool kernels = false;
  std::string injection_library;                    // for kernels: the agent, an absolute path
  Nanos window_ns = 0, every_ns = 0, delay_ns = 0;  // for kernels: length of a window (0: no end),
                                                    // from start to start, before the first
  Nanos first_window_ns = 0;  // for kernels: more than 0: a first window of this
                              // length, and others where the work asks for them
  std::int64_t steps = 0;     // for kernels: a window ends after so many steps
  bool own_profiler = false;  // for kernels: the program has a profiler of its own
  RecordFollower* follower = nullptr;
  int* killed_by = nullptr;                     // gets the signal that killed the program, or 0
  std::function<void(const std::string&)> say;  // one clear line for people, at once
};

/// Runs and records. `exit_code` is the program's; of one that ran already, 1 where kernels were
/// asked for and none could come. Errors: nothing can be recorded, the
/// output cannot be made, the program cannot be started (`exit_code` then says so as a shell
/// would).
Result<RecordSummary> record(const RecordOptions& options, int& exit_code);

}  // namespace gf
