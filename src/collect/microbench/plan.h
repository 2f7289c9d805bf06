// The runs of a calibration, in their order.
// Keeps a GPU busy with one kernel: launches it back to back from a thread of its own, so that the
// caller can watch the board.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "collect/cuda/driver.h"
#include "collect/microbench/run.h"

namespace gf::microbench {

struct Effort {
  int repeats = 3;        // runs of every point at full occupancy
  int sweep_repeats = 2;  // runs of every point of the sweeps
  double seconds = 1.2;   // measured window
};

/// The idle reference that must come before the GPU is woken.
std::vector<Plan> asleep_plans();
/// Everything else: each microbenchmark at full occupancy, sweeps over threads a block, blocks, and
/// number of accesses, and the idle references, shuffled by `seed` so that drift of temperature
/// does not pass for an effect.
std::vector<Plan> calibration_plans(const Runner& runner, const Effort& effort, unsigned seed);
/// Those of a list whose microbenchmarks this chip has, in its order, idle references before, among
/// and behind them.
std::vector<Plan> listed_plans(const Runner& runner, std::vector<Plan> list, double seconds);
/// Seconds that the plans will take, roughly.
double expected_seconds(const std::vector<Plan>& plans);

class Load {
 public:
  using Clock = std::chrono::steady_clock;
  /// Starts at once. `arguments` must outlive the load.
  Load(std::shared_ptr<cuda::Context> context, const cuda::Kernel& kernel,
       const cuda::Launch& shape, void** arguments);
  ~Load() { (void)stop(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// Waits for what is in flight. Errors: a launch failed.
  Status stop();
  /// Launches a second between the first and the last that ended in [from, to]; empty with fewer
  /// than two. After stop().
  std::optional<double> launches_per_second(Clock::time_point from, Clock::time_point to) const;

 private:
  void feed();
  std::shared_ptr<cuda::Context> context_;
  const cuda::Kernel& kernel_;
  cuda::Launch shape_;
  void** arguments_;
  std::atomic<bool> stop_{false};
  std::vector<Clock::time_point> ends_;
  Status status_;
  std::thread thread_;
};

}  // namespace gf::microbench
