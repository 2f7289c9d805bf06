// Power, energy, clocks, memory and links of the recorded GPUs through NVML: cheap readings often,
// dear ones seldom.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collect/nvml/gpm.h"
#include "collect/nvml/health.h"
#include "collect/nvml/nvml.h"
#include "collect/record/activity_watch.h"
#include "model/capture.h"
#include "model/record_summary.h"

namespace gf {

class Sensors {
 public:
  /// `device_rows`: the capture's row of each GPU. GPUs in `with_gpm` are also read through GPM.
  /// `fine_energy`: the energy counter and the clocks as often as the power, for windows of a
  /// second; reading the counter takes some 4 ms.
  Sensors(Nvml& nvml, std::vector<GpuInfo> gpus, std::vector<std::uint32_t> device_rows,
          const std::vector<bool>& with_gpm, bool fine_energy = false);
  /// Also reads a MIG instance of a GPU: its memory and processes, its levels through GPM.
  void add_instance(const GpuInfo& gpu, const MigInstance& instance, std::uint32_t device_row);
  /// Levels also go here: GPM's, or else NVML's utilization. For recordings without counters.
  void watch(ActivityWatch& watch) { watch_ = &watch; }
  /// Errors that the driver reports are recorded too. Before the first poll.
  void watch_xids(const std::shared_ptr<Nvml>& nvml);
  /// Reads what is due and adds rows to `capture`. Call every 50 ms or so.
  void poll(Capture& capture);
  /// The last readings: whatever is due, and the energy counter.
  void finish(Capture& capture);
  /// Power, energy, memory, clocks, temperature; levels when they came from GPM.
  void fill(std::size_t gpu, RecordedDevice& out) const;
  bool lost(std::size_t gpu) const { return states_[gpu].lost; }

 private:
  struct State {
    GpuInfo gpu;
    std::optional<MigInstance> instance;  // of the GPU; else all of it
    std::uint32_t row = kNoRow;
    std::optional<Gpm> gpm;
    std::unique_ptr<XidWatch> xids;
    LevelSummary levels;
    std::vector<std::string> level_ids;  // of its columns
    Nanos power_due = 0, state_due = 0, energy_due = 0, processes_due = 0, gpm_due = 0;
    std::optional<double> last_power, first_energy, last_energy;
    Nanos last_power_ns = 0, first_energy_ns = 0, last_energy_ns = 0, last_stored_ns = 0;
    double stored_power = -1;
    double integral = 0;  // joules, by the trapezoid rule, from the first energy reading on
    Nanos integral_ns = 0;
    double power_max = 0, clock_sum = 0, temperature_max = 0;
    std::int64_t clocks = 0, memory_peak = 0;
    std::uint64_t throttle = 0;
    std::optional<std::uint64_t> pcie_tx, pcie_rx, nvlink_tx, nvlink_rx;
    Nanos link_ns = 0;
    bool lost = false;
  };
  void read(State& state, Capture& capture, Nanos now, bool last);
  GpuReadingGroups due_groups(State& state, Nanos now, bool last) const;
  void keep_power(State& state, Capture& capture, const GpuReading& reading);
  void keep_energy(State& state, Capture& capture, const GpuReading& reading);
  void keep_state(State& state, Capture& capture, const GpuReading& reading);
  void keep_links(State& state, Capture& capture, const GpuReading& reading);
  void keep_processes(const State& state, Capture& capture, const GpuReading& reading);
  void keep_levels(State& state, Capture& capture, const Gpm::Window& window);
  void put(Capture& capture, const State& state, Nanos start, Nanos duration, const char* metric,
           double value);
  void tell_watch(const Gpm::Window& window);
  Nvml& nvml_;
  ActivityWatch* watch_ = nullptr;
  bool fine_energy_ = false;
  std::vector<State> states_;
};

}  // namespace gf
