// Reads every GPU once a call and keeps what adds up between calls: the engine of `monitor`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collect/nvml/gpm.h"
#include "collect/nvml/nvml.h"
#include "model/live.h"

namespace gf {

/// Utilisation levels of one GPU since the last call, from a finer source than GPM (PM sampling).
struct LevelWindow {
  Nanos start_ns = 0, end_ns = 0;
  std::map<std::string, double> values;  // metric id -> value, as counter_samples hold it
  std::int64_t lost = 0;                 // samples that never arrived
};
using LevelSource = std::function<std::optional<LevelWindow>(const GpuInfo&)>;

class LiveSampler {
 public:
  /// `devices`: NVML indices, empty for all. Errors: no driver, no such device.
  static Result<LiveSampler> open(const std::vector<unsigned>& devices);
  /// Takes levels from `source` instead of GPM; `name` is what the tables say.
  void use(LevelSource source, std::string name);
  const Nvml& nvml() const { return nvml_; }
  /// GPUs that were asked for.
  const std::vector<GpuInfo>& gpus() const { return gpus_; }

  /// The table now. Calls must be at least 100 ms apart for GPM to have news.
  LiveTable sample();

 private:
  struct Totals {
    std::map<std::string, double> sums;
    std::optional<std::uint64_t> pcie_tx0, pcie_rx0;
  };
  explicit LiveSampler(Nvml nvml) : nvml_(std::move(nvml)) {}
  void add_levels(LiveGpu& row, const std::vector<std::pair<std::string, double>>& values,
                  Nanos start, Nanos end, Totals& totals);
  Nvml nvml_;
  std::vector<GpuInfo> gpus_;
  std::map<std::string, Gpm> gpm_;  // by UUID of GPU or MIG instance
  std::map<std::string, Totals> totals_;
  LevelSource source_;
  std::string source_name_;
};

/// The NVML indices named by a list such as "0,2-3", a UUID or "all". Errors: text that is none, a
/// device that is not there.
Result<std::vector<unsigned>> select_devices(const std::string& text,
                                             const std::vector<GpuInfo>& gpus);
std::string host_name();

}  // namespace gf
