#include "collect/record/sensors.h"

#include <algorithm>
#include <cmath>

#include "model/metrics.h"

namespace gf {

namespace {

// Power changes every 100 ms on Hopper.
constexpr Nanos kPower = 100 * kNsPerMs, kState = kNsPerSecond, kEnergy = kNsPerSecond,
                kProcesses = 2 * kNsPerSecond, kGpm = 100 * kNsPerMs;

}  // namespace

Sensors::Sensors(Nvml& nvml, std::vector<GpuInfo> gpus, std::vector<std::uint32_t> rows,
                 const std::vector<bool>& with_gpm, bool fine_energy)
    : nvml_(nvml), fine_energy_(fine_energy) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    State s;
    s.gpu = gpus[i];
    s.row = rows[i];
    if (with_gpm[i]) s.gpm.emplace(nvml, gpus[i]);
    states_.push_back(std::move(s));
  }
}

void Sensors::put(Capture& capture, const State& s, Nanos start, Nanos duration, const char* metric,
                  double value) {
  const auto row = capture.counter_samples.add();
  capture.counter_samples.start_ns[row] = start;
  capture.counter_samples.duration_ns[row] = duration;
  capture.counter_samples.device[row] = s.row;
  capture.counter_samples.metric[row] = capture.strings.intern(metric);
  capture.counter_samples.value[row] = value;
}

void Sensors::poll(Capture& capture) {
  const Nanos now = host_now();
  for (auto& s : states_) read(s, capture, now, false);
}

void Sensors::finish(Capture& capture) {
  const Nanos now = host_now();
  for (auto& s : states_) read(s, capture, now, true);
}

void Sensors::read(State& s, Capture& capture, Nanos now, bool last) {
  if (s.lost) return;
  auto due = [&](Nanos& when, Nanos every) {
    if (now < when && !last) return false;
    when = std::max(when + every, now + every / 2);
    return true;
  };
  GpuReadingGroups want;
  want.power = due(s.power_due, kPower);
  want.state = due(s.state_due, fine_energy_ ? kPower : kState);
  want.energy = due(s.energy_due, fine_energy_ ? kPower : kEnergy);
  want.processes = due(s.processes_due, kProcesses);
  if (want.power || want.state || want.energy || want.processes) {
    const auto r = nvml_.read(s.gpu, want);
    s.lost = r.lost;
    if (r.lost)
      capture.note_quality(QualityCode::gpu_lost,
                           "a GPU fell off the bus; its recording ends there");
    const auto power = r.power_instant_watts ? r.power_instant_watts : r.power_average_watts;
    if (power) {
      s.power_max = std::max(s.power_max, *power);
      // Stored when it changes, and once a second; in between it is the last value.
      if (*power != s.stored_power || r.time_ns - s.last_stored_ns >= kNsPerSecond) {
        put(capture, s, r.time_ns, 0, r.power_instant_watts ? "power.module" : "power.average",
            *power);
        if (r.power_instant_watts && r.power_average_watts)
          put(capture, s, r.time_ns, 0, "power.average", *r.power_average_watts);
        if (r.power_memory_watts)
          put(capture, s, r.time_ns, 0, "power.memory", *r.power_memory_watts);
        s.stored_power = *power;
        s.last_stored_ns = r.time_ns;
      }
      if (s.last_power && s.first_energy) {
        s.integral +=
            (*s.last_power + *power) / 2 * static_cast<double>(r.time_ns - s.last_power_ns) * 1e-9;
        s.integral_ns += r.time_ns - s.last_power_ns;
      }
      s.last_power = power;
      s.last_power_ns = r.time_ns;
    }
    if (r.energy_joules) {
      put(capture, s, r.time_ns, 0, "energy.module", *r.energy_joules);
      if (!s.first_energy) {
        s.first_energy = r.energy_joules;
        s.first_energy_ns = r.time_ns;
      }
      s.last_energy = r.energy_joules;
      s.last_energy_ns = r.time_ns;
    }
    if (r.sm_clock_mhz) {
      put(capture, s, r.time_ns, 0, "clock.sm", *r.sm_clock_mhz * 1e6);
      s.clock_sum += *r.sm_clock_mhz * 1e6;
      ++s.clocks;
    }
    if (r.memory_clock_mhz)
      put(capture, s, r.time_ns, 0, "clock.memory", *r.memory_clock_mhz * 1e6);
    if (r.temperature_celsius) {
      put(capture, s, r.time_ns, 0, "temperature.gpu", *r.temperature_celsius);
      s.temperature_max = std::max(s.temperature_max, *r.temperature_celsius);
    }
    if (r.throttle_reasons) {
      put(capture, s, r.time_ns, 0, "clock.limits", static_cast<double>(*r.throttle_reasons));
      s.throttle |= *r.throttle_reasons;
    }
    if (r.utilization_gpu) {
      put(capture, s, r.time_ns, 0, "monitor.gpu", *r.utilization_gpu);
      if (watch_ && !s.gpm)
        watch_->add(r.time_ns - kState, r.time_ns, *r.utilization_gpu, *r.utilization_gpu);
    }
    if (r.utilization_memory)
      put(capture, s, r.time_ns, 0, "monitor.memory", *r.utilization_memory);
    if (r.memory_used_bytes) {
      put(capture, s, r.time_ns, 0, "memory.used", static_cast<double>(*r.memory_used_bytes));
      s.memory_peak = std::max(s.memory_peak, *r.memory_used_bytes);
    }
    auto link = [&](const char* metric, std::optional<std::uint64_t>& before,
                    const std::optional<std::uint64_t>& value) {
      if (!value) return;
      if (before && s.link_ns)
        put(capture, s, s.link_ns, r.time_ns - s.link_ns, metric,
            static_cast<double>(*value - *before));
      before = value;
    };
    if (want.state) {
      link("pcie.tx", s.pcie_tx, r.pcie_tx_bytes);
      link("pcie.rx", s.pcie_rx, r.pcie_rx_bytes);
      link("nvlink.tx", s.nvlink_tx, r.nvlink_tx_bytes);
      link("nvlink.rx", s.nvlink_rx, r.nvlink_rx_bytes);
      s.link_ns = r.time_ns;
    }
    if (r.processes)
      for (const auto& p : *r.processes)
        if (p.memory_bytes >= 0)
          put(capture, s, r.time_ns, 0, ("memory.process." + std::to_string(p.pid)).c_str(),
              static_cast<double>(p.memory_bytes));
  }
  if (s.gpm && due(s.gpm_due, kGpm)) {
    if (const auto window = s.gpm->read()) {
      tell_watch(*window);
      if (!s.levels.defined()) {
        std::vector<bool> counts;
        for (const auto& [id, value] : window->values) {
          s.level_ids.emplace_back(id);
          const auto* metric = find_metric(id);
          counts.push_back(metric && metric->unit != "ratio");
        }
        s.levels.define(s.level_ids, std::move(counts));
      }
      std::vector<double> values;
      for (const auto& [id, value] : window->values) {
        put(capture, s, window->start_ns, window->end_ns - window->start_ns, id, value);
        if (values.size() < s.level_ids.size() && s.level_ids[values.size()] == id)
          values.push_back(value);
      }
      if (values.size() == s.level_ids.size())
        s.levels.add(window->start_ns, window->end_ns,
                     values.data());  // the driver may leave out a metric at times
    }
  }
}

void Sensors::tell_watch(const Gpm::Window& window) {
  if (!watch_) return;
  std::optional<double> busy, sm_active;
  for (const auto& [id, value] : window.values) {
    if (std::string_view(id) == "gpu.busy") busy = value;
    if (std::string_view(id) == "sm.active_any" || std::string_view(id) == "sm.active")
      sm_active = value;
  }
  if (busy) watch_->add(window.start_ns, window.end_ns, *busy, sm_active.value_or(*busy));
}

void Sensors::fill(std::size_t gpu, RecordedDevice& out) const {
  const auto& s = states_[gpu];
  if (s.levels.defined()) s.levels.fill(out);
  if (s.integral_ns > 0)
    out.power_mean_watts = s.integral / (static_cast<double>(s.integral_ns) * 1e-9);
  if (s.power_max > 0) out.power_max_watts = s.power_max;
  if (s.first_energy && s.last_energy_ns > s.first_energy_ns) {
    out.energy_joules = *s.last_energy - *s.first_energy;
    // The integral covers nearly the same span; scaled to the counter's own, so that the two can be
    // compared.
    if (s.integral_ns > 0)
      out.energy_integral_joules = s.integral / static_cast<double>(s.integral_ns) *
                                   static_cast<double>(s.last_energy_ns - s.first_energy_ns);
  }
  if (s.memory_peak > 0) out.memory_peak_bytes = s.memory_peak;
  if (s.temperature_max > 0) out.temperature_max_celsius = s.temperature_max;
  if (s.clocks > 0) out.sm_clock_mean_hertz = s.clock_sum / static_cast<double>(s.clocks);
  out.throttle = throttle_words(s.throttle);
}

}  // namespace gf
