// Sensors on a thread of their own: a driver that hangs in a call costs their readings and nothing
// else.
#pragma once

#include <memory>
#include <vector>

#include "collect/record/sensors.h"
#include "collect/watched_call.h"

namespace gf {

class WatchedSensors {
 public:
  WatchedSensors(std::shared_ptr<Nvml> nvml, std::vector<GpuInfo> gpus,
                 std::vector<std::uint32_t> device_rows, const std::vector<bool>& with_gpm,
                 bool fine_energy);
  void watch(ActivityWatch& watch);
  /// Before the first poll.
  void add_instance(const GpuInfo& gpu, const MigInstance& instance, std::uint32_t device_row);
  /// Waits for a second at most, and not while `wake_fd` can be read; rows come with the next call
  /// then.
  void poll(Capture& capture, int wake_fd);
  void finish(Capture& capture);
  /// Nothing of it while the driver hangs.
  void fill(std::size_t gpu, RecordedDevice& out) const;
  bool lost(std::size_t gpu) const;
  /// For how long a call has not returned, 0: the driver answers.
  Nanos hangs_for() const;

 private:
  struct State {
    std::shared_ptr<Nvml> nvml;
    Sensors sensors;
    Capture rows;  // of the calls; what they refer to is the same in the recorder's capture
  };
  void call(Capture& capture, bool last, int wake_fd);
  void move_rows(Capture& capture);
  std::shared_ptr<State> state_;
  WatchedThread thread_;
};

}  // namespace gf
