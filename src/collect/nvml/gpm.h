// GPU performance monitoring of NVML (Hopper and newer): averages between two samples, needing no
// profiling permission. The driver refreshes the counters every 100 ms; closer samples give invalid
// values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collect/nvml/nvml.h"

namespace gf {

/// Averages of one device (or MIG GPU instance) between consecutive calls of read().
class Gpm {
 public:
  static constexpr Nanos kShortest = 100 * kNsPerMs;
  Gpm(const Nvml& nvml, const GpuInfo& gpu, std::optional<unsigned> gpu_instance = {});
  ~Gpm();
  Gpm(Gpm&&) noexcept;

  struct Window {
    Nanos start_ns = 0, end_ns = 0;
    std::vector<std::pair<const char*, double>>
        values;  // metric id and value, for those that the driver answered
  };
  /// Averages since the last call; empty on the first call, before 100 ms have passed, and when the
  /// driver refuses.
  std::optional<Window> read();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gf
