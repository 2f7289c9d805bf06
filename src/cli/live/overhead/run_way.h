// One run of a program, watched: what it took, and what the tool took.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/nvml/nvml.h"
#include "collect/watched_call.h"

namespace gf::cli {

/// Words of a command, in which {FILE} stands for what the run left.
struct AfterRun {
  std::string ending;                // of the file's name
  std::vector<std::string> convert;  // by the tool itself, into what others can read; empty: none
  std::string converted;             // ending of what that leaves
  std::vector<std::string> analyse;  // an answer from the file, or from what it was converted to
};

struct AfterRunTimes {
  std::optional<double> convert_seconds, analyse_seconds;
};

/// Runs both on the largest file of the folder with that ending. No time of what cannot be run.
AfterRunTimes time_after_run(const AfterRun& after, const std::string& folder);

struct Way {
  std::string name;
  std::vector<std::string> before;   // words in front of the command
  std::vector<std::string> beside;   // a program that runs at its side
  std::vector<std::string> command;  // instead of the command, when the tool changes it
  std::string summary;               // file in which the tool says what it took itself
  int kernels = 0;  // what the tool is bounded to, 0: everything. Run once, not in rounds
  AfterRun after;   // what makes an answer of what it leaves
  std::vector<std::string> daemons;  // processes that work for it and run already
};

struct WaysWanted {
  std::string self;  // this program
  std::string work;  // folder for helpers; lives as long as the comparison
  std::string out;   // folder for what one run leaves; emptied after each
  std::vector<std::string> command;
  std::vector<std::string> only;  // names; empty: all that there are
  std::string devices = "all";    // GPUs that record and monitor watch
  int ncu_kernels = 200;          // Nsight Compute stops after so many
};
std::vector<Way> ways_to_watch(const WaysWanted& wanted);
/// The names of all ways, also of those that this machine lacks; "none" is always run and left out.
std::vector<std::string> names_of_ways();

struct WatchedRun {
  double seconds = 0;
  double cpu_seconds = 0;                  // of the program, and of the tool in front of it
  std::optional<double> tool_cpu_seconds;  // of the tool alone, where that can be told
  std::int64_t memory_bytes = 0;           // most resident memory of one process of the run
  std::int64_t tool_memory_bytes = 0;
  std::optional<std::int64_t>
      gpu_memory_bytes;                   // most in use on all GPUs, over what was in use before
  std::optional<double> gpu_utilization;  // as nvidia-smi shows it, of the GPU that was used most
  std::int64_t disk_bytes = 0;
  AfterRunTimes after;
  std::optional<double> measured;  // the number that the program printed
  std::string failed;
};

/// From now on a signal that asks this program to end goes to the run at hand, and is remembered.
void stop_on_signals();
bool stop_asked();

/// Samples the GPUs while a program runs, for as long as the driver answers.
class GpuLook {
 public:
  struct State {
    std::int64_t memory_bytes = 0;    // in use on all of them
    std::vector<double> utilization;  // of each, 0..1; NaN: not known
  };
  /// `chosen`: numbers of the GPUs to look at.
  GpuLook(std::shared_ptr<Nvml> nvml, std::vector<unsigned> chosen)
      : nvml_(std::move(nvml)), chosen_(std::move(chosen)) {}
  /// Empty when it is not known.
  std::optional<State> now();
  /// Who works on them before the first run, for people: "GPU 0: python (4711) holds 11.0 GiB".
  /// Empty: nobody, or it is not known.
  std::string others();

 private:
  std::shared_ptr<Nvml> nvml_;  // null: no driver
  std::vector<unsigned> chosen_;
  WatchedThread thread_;
};

/// `measure`: a key; the last `"key": number` on the program's standard output is kept, which then
/// is not shown.
WatchedRun run_watched(const Way& way, const WaysWanted& wanted, const std::string& measure,
                       GpuLook& gpus);

}  // namespace gf::cli
