// Reads every GPU once a call: the engine of `monitor`.
// Levels for the monitor from PM sampling instead of GPM: issue slots too, and GPUs before Hopper;
// needs permission.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collect/live/live_device.h"
#include "collect/watched_call.h"

namespace gf {

class LiveSampler {
 public:
  /// `devices`: as select_devices() takes them. Errors: no driver, no such device.
  static Result<LiveSampler> open(const std::string& devices);
  /// Takes levels from `source` instead of GPM; `name` is what the tables say.
  void use(const LevelSource& source, const std::string& name);
  /// GPUs that were asked for.
  std::vector<GpuInfo> gpus() const;

  /// The table now. A GPU whose driver has not answered after `limit`, or when `wake_fd` can be
  /// read, shows its last reading, and is asked again when the driver comes back.
  LiveTable sample(Nanos limit, int wake_fd = -1);

 private:
  struct Watched {
    std::shared_ptr<LiveDevice> device;  // a call that hangs keeps it alive
    WatchedThread thread;
  };
  LiveSampler() = default;
  std::string driver_;
  std::vector<Watched> devices_;
};

/// The NVML indices named by a list such as "0,2-3", a UUID or "all". Errors: text that is none, a
/// device that is not there.
Result<std::vector<unsigned>> select_devices(const std::string& text,
                                             const std::vector<GpuInfo>& gpus);
std::string host_name();

/// Starts a session on each GPU that makes 100 samples between two readings, or 100 a second if
/// that is fewer. Errors: what keeps the first refused GPU from being sampled.
Result<LevelSource> pm_levels(const std::vector<GpuInfo>& gpus, Nanos reading_every);

}  // namespace gf
