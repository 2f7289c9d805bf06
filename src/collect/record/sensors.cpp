#include "collect/record/sensors.h"

#include <algorithm>
#include <cmath>

#include "core/time.h"
#include "model/counter_values.h"
#include "model/metrics.h"

namespace gf {

namespace {

// Power changes every 100 ms on Hopper.
constexpr Nanos kPower = 100 * kNsPerMs, kState = kNsPerSecond, kEnergy = kNsPerSecond,
                kProcesses = 2 * kNsPerSecond, kGpm = 100 * kNsPerMs;

/// True if a reading that is wanted every so often is due, and when the next one is.
bool due(Nanos& when, Nanos every, Nanos now, bool last) {
  if (now < when && !last) return false;
  when = std::max(when + every, now + every / 2);
  return true;
}

}  // namespace

Sensors::Sensors(Nvml& nvml, std::vector<GpuInfo> gpus, std::vector<std::uint32_t> rows,
                 const std::vector<bool>& with_gpm, bool fine_energy)
    : nvml_(nvml), fine_energy_(fine_energy) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    State state;
    state.gpu = gpus[i];
    state.row = rows[i];
    if (with_gpm[i]) state.gpm.emplace(nvml, gpus[i]);
    states_.push_back(std::move(state));
  }
}

void Sensors::add_instance(const GpuInfo& gpu, const MigInstance& instance,
                           std::uint32_t device_row) {
  State state;
  state.gpu = gpu;
  state.instance = instance;
  state.row = device_row;
  if (gpu.gpm) state.gpm.emplace(nvml_, gpu, instance.gpu_instance);
  states_.push_back(std::move(state));
}

void Sensors::watch_xids(const std::shared_ptr<Nvml>& nvml) {
  for (auto& state : states_)
    if (!state.instance) state.xids = std::make_unique<XidWatch>(nvml, state.gpu);
}

void Sensors::put(Capture& capture, const State& state, Nanos start, Nanos duration,
                  const char* metric, double value) {
  add_row(capture.counter_samples,
          {start, duration, state.row, capture.strings.intern(metric), value});
}

void Sensors::poll(Capture& capture) {
  const Nanos now = host_now();
  for (auto& state : states_) read(state, capture, now, false);
}

void Sensors::finish(Capture& capture) {
  const Nanos now = host_now();
  for (auto& state : states_) read(state, capture, now, true);
}

GpuReadingGroups Sensors::due_groups(State& state, Nanos now, bool last) const {
  Nanos fine_state = kState, fine_energy = kEnergy;
  if (fine_energy_) fine_state = fine_energy = kPower;
  GpuReadingGroups want;
  const bool whole = !state.instance;  // power and energy are the GPU's
  want.power = whole && due(state.power_due, kPower, now, last);
  want.state = due(state.state_due, fine_state, now, last);
  want.energy = whole && due(state.energy_due, fine_energy, now, last);
  want.processes = due(state.processes_due, kProcesses, now, last);
  return want;
}

void Sensors::read(State& state, Capture& capture, Nanos now, bool last) {
  if (state.lost) return;
  const GpuReadingGroups want = due_groups(state, now, last);
  if (want.power || want.state || want.energy || want.processes) {
    const auto reading = state.instance ? nvml_.read(*state.instance) : nvml_.read(state.gpu, want);
    state.lost = reading.lost;
    if (reading.lost)
      capture.note_quality(QualityCode::gpu_lost,
                           "a GPU fell off the bus; its recording ends there");
    keep_power(state, capture, reading);
    keep_energy(state, capture, reading);
    keep_state(state, capture, reading);
    if (want.state) keep_links(state, capture, reading);
    if (want.state && state.xids)
      for (const std::int64_t code : state.xids->take())
        put(capture, state, reading.time_ns, 0, "xid.last"_metric, static_cast<double>(code));
    keep_processes(state, capture, reading);
  }
  if (state.gpm && due(state.gpm_due, kGpm, now, last))
    if (const auto window = state.gpm->read()) keep_levels(state, capture, *window);
}

void Sensors::keep_power(State& state, Capture& capture, const GpuReading& reading) {
  const char* metric = "power.module"_metric;
  auto power = reading.power_instant_watts;
  if (!power) {
    metric = "power.average"_metric;
    power = reading.power_average_watts;
  }
  if (!power) return;
  state.power_max = std::max(state.power_max, *power);
  // Stored when it changes, and once a second; in between it is the last value.
  if (*power != state.stored_power || reading.time_ns - state.last_stored_ns >= kNsPerSecond) {
    put(capture, state, reading.time_ns, 0, metric, *power);
    if (reading.power_instant_watts && reading.power_average_watts)
      put(capture, state, reading.time_ns, 0, "power.average"_metric, *reading.power_average_watts);
    if (reading.power_memory_watts)
      put(capture, state, reading.time_ns, 0, "power.memory"_metric, *reading.power_memory_watts);
    state.stored_power = *power;
    state.last_stored_ns = reading.time_ns;
  }
  if (state.last_power && state.first_energy) {
    state.integral += (*state.last_power + *power) / 2 *
                      static_cast<double>(reading.time_ns - state.last_power_ns) * 1e-9;
    state.integral_ns += reading.time_ns - state.last_power_ns;
  }
  state.last_power = power;
  state.last_power_ns = reading.time_ns;
}

void Sensors::keep_energy(State& state, Capture& capture, const GpuReading& reading) {
  if (!reading.energy_joules) return;
  put(capture, state, reading.time_ns, 0, "energy.module"_metric, *reading.energy_joules);
  if (!state.first_energy) {
    state.first_energy = reading.energy_joules;
    state.first_energy_ns = reading.time_ns;
  }
  if (state.last_energy && *reading.energy_joules < *state.last_energy)  // it began anew
    *state.first_energy -= *state.last_energy - *reading.energy_joules;
  state.last_energy = reading.energy_joules;
  state.last_energy_ns = reading.time_ns;
}

void Sensors::keep_state(State& state, Capture& capture, const GpuReading& reading) {
  auto keep = [&](const char* metric, double value) {
    put(capture, state, reading.time_ns, 0, metric, value);
  };
  if (reading.sm_clock_mhz) {
    keep("clock.sm"_metric, *reading.sm_clock_mhz * 1e6);
    state.clock_sum += *reading.sm_clock_mhz * 1e6;
    ++state.clocks;
  }
  if (reading.memory_clock_mhz) keep("clock.memory"_metric, *reading.memory_clock_mhz * 1e6);
  if (reading.temperature_celsius) {
    keep("temperature.gpu"_metric, *reading.temperature_celsius);
    state.temperature_max = std::max(state.temperature_max, *reading.temperature_celsius);
  }
  if (reading.throttle_reasons) {
    keep("clock.limits"_metric, static_cast<double>(*reading.throttle_reasons));
    state.throttle |= *reading.throttle_reasons;
  }
  if (reading.utilization_gpu) {
    keep("monitor.gpu"_metric, *reading.utilization_gpu);
    if (watch_ && !state.gpm)
      watch_->add(reading.time_ns - kState, reading.time_ns, *reading.utilization_gpu,
                  *reading.utilization_gpu);
  }
  if (reading.utilization_memory) keep("monitor.memory"_metric, *reading.utilization_memory);
  if (reading.memory_used_bytes) {
    keep("memory.used"_metric, static_cast<double>(*reading.memory_used_bytes));
    state.memory_peak = std::max(state.memory_peak, *reading.memory_used_bytes);
  }
}

void Sensors::keep_links(State& state, Capture& capture, const GpuReading& reading) {
  auto link = [&](const char* metric, std::optional<std::uint64_t>& before,
                  const std::optional<std::uint64_t>& value) {
    if (!value) return;
    if (before && state.link_ns)
      put(capture, state, state.link_ns, reading.time_ns - state.link_ns, metric,
          static_cast<double>(*value - *before));
    before = value;
  };
  link("pcie.tx"_metric, state.pcie_tx, reading.pcie_tx_bytes);
  link("pcie.rx"_metric, state.pcie_rx, reading.pcie_rx_bytes);
  link("nvlink.tx"_metric, state.nvlink_tx, reading.nvlink_tx_bytes);
  link("nvlink.rx"_metric, state.nvlink_rx, reading.nvlink_rx_bytes);
  state.link_ns = reading.time_ns;
}

void Sensors::keep_processes(const State& state, Capture& capture, const GpuReading& reading) {
  if (!reading.processes) return;
  for (const auto& process : *reading.processes)
    if (process.memory_bytes >= 0)
      put(capture, state, reading.time_ns, 0,
          ("memory.process." + std::to_string(process.pid)).c_str(),
          static_cast<double>(process.memory_bytes));
}

void Sensors::keep_levels(State& state, Capture& capture, const Gpm::Window& window) {
  tell_watch(window);
  if (!state.levels.defined()) {
    std::vector<bool> counts;
    for (const auto& [id, value] : window.values) {
      state.level_ids.emplace_back(id);
      const auto* metric = find_metric(id);
      counts.push_back(metric && metric->unit != "ratio");
    }
    state.levels.define(state.level_ids, std::move(counts));
  }
  std::vector<double> values;
  for (const auto& [id, value] : window.values) {
    put(capture, state, window.start_ns, window.end_ns - window.start_ns, id, value);
    if (values.size() < state.level_ids.size() && state.level_ids[values.size()] == id)
      values.push_back(value);
  }
  if (values.size() == state.level_ids.size())  // the driver may leave out a metric at times
    state.levels.add(window.start_ns, window.end_ns, values.data());
}

void Sensors::tell_watch(const Gpm::Window& window) {
  if (!watch_) return;
  std::optional<double> busy, sm_active;
  for (const auto& [id, value] : window.values) {
    if (std::string_view(id) == "gpu.busy"_metric) busy = value;
    if (std::string_view(id) == "sm.active_any"_metric ||
        std::string_view(id) == "sm.active"_metric)
      sm_active = value;
  }
  if (busy) watch_->add(window.start_ns, window.end_ns, *busy, sm_active.value_or(*busy));
}

void Sensors::fill(std::size_t gpu, RecordedDevice& out) const {
  const auto& state = states_[gpu];
  if (state.levels.defined()) state.levels.fill(out);
  if (state.integral_ns > 0)
    out.power_mean_watts = state.integral / (static_cast<double>(state.integral_ns) * 1e-9);
  if (state.power_max > 0) out.power_max_watts = state.power_max;
  if (state.first_energy && state.last_energy_ns > state.first_energy_ns) {
    out.energy_joules = *state.last_energy - *state.first_energy;
    // The integral covers nearly the same span; scaled to the counter's own, so that the two can be
    // compared.
    if (state.integral_ns > 0)
      out.energy_integral_joules =
          state.integral / static_cast<double>(state.integral_ns) *
          static_cast<double>(state.last_energy_ns - state.first_energy_ns);
  }
  if (state.memory_peak > 0) out.memory_peak_bytes = state.memory_peak;
  if (state.temperature_max > 0) out.temperature_max_celsius = state.temperature_max;
  if (state.clocks > 0)
    out.sm_clock_mean_hertz = state.clock_sum / static_cast<double>(state.clocks);
  out.throttle = throttle_words(state.throttle);
}

}  // namespace gf
