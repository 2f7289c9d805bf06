// Reads every GPU once a call: the engine of `monitor`.
// Levels for the monitor from PM sampling instead of GPM: issue slots too, and GPUs before Hopper;
// needs permission.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "collect/nvml/gpm.h"
#include "collect/nvml/health.h"
#include "collect/nvml/nvml.h"
#include "collect/watched_call.h"
#include "model/live.h"

namespace gf {

// One GPU of the monitor: its newest reading, and what has added up since the monitor began. The
// driver is asked on a thread of the GPU's own, so that one that hangs stops nothing else.

/// Utilization levels of one GPU since the last call, from a finer source than GPM (PM sampling).
struct LevelWindow {
  Nanos start_ns = 0, end_ns = 0;
  std::map<std::string, double> values;  // metric id -> value, as counter_samples hold it
  std::int64_t lost = 0;                 // samples that never arrived
};
using LevelSource = std::function<std::optional<LevelWindow>(const GpuInfo&)>;

class LiveDevice {
 public:
  LiveDevice(std::shared_ptr<Nvml> nvml, const GpuInfo& gpu);
  /// Takes levels from `source` instead of GPM; `name` is what the tables say.
  void use(LevelSource source, std::string name);
  const GpuInfo& gpu() const { return gpu_; }

  /// Asks the driver; calls must be at least 100 ms apart for GPM to have news. Of one thread.
  void read();
  /// The newest reading, the GPU's row before those of its MIG instances. Of any thread.
  std::vector<LiveGpu> newest() const;

 private:
  struct Sums {
    std::map<std::string, double> totals;
    Nanos observed_ns = 0;  // of the windows that added up
  };
  LiveGpu read_gpu();
  LiveGpu read_instance(const MigInstance& mig);
  void read_levels(LiveGpu& row, const GpuReading& reading, Sums& sums);
  void add_holders(LiveGpu& row, const GpuReading& reading);
  void add_health(LiveGpu& row);

  std::shared_ptr<Nvml> nvml_;
  const GpuInfo gpu_;
  std::map<std::string, Gpm> gpm_;    // by UUID of GPU or MIG instance
  std::map<std::string, Sums> sums_;  // by UUID too
  struct Holder {
    std::string name;
    std::map<std::string, std::string> job;
  };
  std::map<std::int64_t, Holder> holders_;   // processes, by their number
  std::map<std::string, Nanos> idle_since_;  // by UUID too; 0: something runs, or nobody holds it
  LevelSource source_;
  std::string source_name_;
  std::unique_ptr<XidWatch> xid_watch_;  // made at the first reading: it asks the driver
  std::map<std::int64_t, LiveXid> xids_;
  std::int64_t last_xid_ = 0;
  mutable std::mutex mutex_;  // over the rows
  std::vector<LiveGpu> rows_;
};

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

/// The NVML indices named by a list such as "0,2-3", a UUID or "all"; of all devices for no text.
/// Errors: text that is none, a device that is not there.
Result<std::vector<unsigned>> select_devices(const std::string& text,
                                             const std::vector<GpuInfo>& gpus);
/// The GPUs that CUDA_VISIBLE_DEVICES lets a program see, as CUDA reads it: numbers or beginnings
/// of UUIDs, up to the first that names none. Empty where it is not set or says nothing that NVML's
/// numbers can be told from: MIG instances, or numbers among GPUs of several products that are not
/// in the order of the bus (`order`: CUDA_DEVICE_ORDER).
std::vector<unsigned> visible_devices(const std::string& visible, const std::string& order,
                                      const std::vector<GpuInfo>& gpus);

std::string host_name();

/// Starts a session on each GPU that makes 100 samples between two readings, or 100 a second if
/// that is fewer. Errors: what keeps the first refused GPU from being sampled.
Result<LevelSource> pm_levels(const std::vector<GpuInfo>& gpus, Nanos reading_every);

}  // namespace gf
