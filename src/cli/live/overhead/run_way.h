// One run of a program, watched: what it took, and what the tool took.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/live/overhead/ways.h"
#include "collect/nvml/nvml.h"
#include "collect/watched_call.h"

namespace gf::cli {

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

/// What the GPUs say of themselves while a program runs, for as long as the driver answers.
class GpuLook {
 public:
  struct State {
    std::int64_t memory_bytes = 0;    // in use on all of them
    std::vector<double> utilization;  // of each, 0..1; NaN: not known
  };
  explicit GpuLook(std::shared_ptr<Nvml> nvml) : nvml_(std::move(nvml)) {}
  /// Empty when it is not known.
  std::optional<State> now();

 private:
  std::shared_ptr<Nvml> nvml_;  // null: no driver
  WatchedThread thread_;
};

/// `measure`: a key; the last `"key": number` on the program's standard output is kept, which then
/// is not shown.
WatchedRun run_watched(const Way& way, const WaysWanted& wanted, const std::string& measure,
                       GpuLook& gpus);

}  // namespace gf::cli
