#include "report/record_summary.h"

#include <fmt/format.h>

#include <array>

#include "report/text/format.h"

namespace gf {

namespace {

struct Rung {
  const char* id;
  const char* label;
};
constexpr std::array kLadder = {Rung{"gpu.busy", "GPU busy"},
                                Rung{"sm.active_any", "SM active"},
                                Rung{"issue.active", "issue slots used"},
                                Rung{"tensor.active", "tensor pipe active"},
                                Rung{"sm.occupancy", "occupancy"},
                                Rung{"dram.active", "DRAM bandwidth used"}};

std::string bar(double share, const TextStyle& style) {
  constexpr int width = 30;
  const int full = static_cast<int>(share * width + 0.5);
  std::string out;
  for (int i = 0; i < width; ++i)
    out += i < full ? (style.utf8 ? "█" : "#") : (style.utf8 ? "░" : ".");
  return out;
}

std::string device_text(const RecordedDevice& d, const TextStyle& style) {
  std::string out = fmt::format("GPU {}  {}  levels: {}", d.index, d.name,
                                d.source == "pm_sampling" ? "PM sampling"
                                : d.source == "gpm"       ? "NVML GPM (10 Hz)"
                                                          : "none (NVML only)");
  if (d.samples > 0) out += fmt::format(", {} samples", format_count(d.samples));
  if (d.lost > 0) out += fmt::format(", {} lost", format_count(d.lost));
  out += "\n";
  if (d.shares.empty())
    out += d.source == "nvml" ? "  no levels recorded\n"
           : d.samples == 0   ? "  no sample arrived\n"
                              : "  the GPU did no work\n";
  else
    out += fmt::format("  while it had work, {} from first to last:\n", format_time(d.span_ns));
  for (const auto& rung : kLadder)
    if (auto share = d.shares.find(rung.id); share != d.shares.end())
      out += fmt::format("    {:<22}{:>7}  {}\n", rung.label, format_share(share->second),
                         bar(share->second, style));
  const double seconds = static_cast<double>(d.sampled_ns) * 1e-9;
  auto total = [&](const char* id) {
    const auto it = d.totals.find(id);
    return it == d.totals.end() ? -1.0 : it->second;
  };
  if (seconds > 0 && total("dram.read") >= 0 && total("dram.write") >= 0)
    out += fmt::format("    DRAM {}/s read, {}/s written\n",
                       format_bytes(static_cast<std::int64_t>(total("dram.read") / seconds)),
                       format_bytes(static_cast<std::int64_t>(total("dram.write") / seconds)));
  std::string power;
  if (d.power_mean_watts)
    power += fmt::format("power {:.0f} W mean, {:.0f} W most", *d.power_mean_watts,
                         d.power_max_watts.value_or(0));
  if (d.energy_joules)
    power += fmt::format("{}energy {:.0f} J", power.empty() ? "" : "; ", *d.energy_joules);
  if (d.energy_joules && d.energy_integral_joules)
    power += fmt::format(" ({:.0f} J from power readings)", *d.energy_integral_joules);
  if (!power.empty()) out += "  " + power + "\n";
  std::string state;
  if (d.memory_peak_bytes) state += "memory " + format_bytes(*d.memory_peak_bytes) + " at most";
  if (d.sm_clock_mean_hertz)
    state += fmt::format("{}SM clock {:.0f} MHz mean", state.empty() ? "" : "; ",
                         *d.sm_clock_mean_hertz * 1e-6);
  if (d.temperature_max_celsius)
    state +=
        fmt::format("{}{:.0f} C at most", state.empty() ? "" : "; ", *d.temperature_max_celsius);
  if (!state.empty()) out += "  " + state + "\n";
  if (!d.throttle.empty()) {
    std::string words;
    for (const auto& w : d.throttle) words += (words.empty() ? "" : ", ") + w;
    out += "  clocks were held down at times by " + words + "\n";
  }
  if (d.step_ns) {
    out += fmt::format("  the GPU's activity repeats every {} (correlation {:.2f})",
                       format_time(static_cast<Nanos>(*d.step_ns)), d.step_confidence);
    if (d.power_mean_watts)
      out += fmt::format(": {:.3g} J a step", *d.power_mean_watts * *d.step_ns * 1e-9);
    out += "\n";
  }
  return out;
}

}  // namespace

std::string record_summary_text(const RecordSummary& s, const TextStyle& style) {
  std::string out = fmt::format("{}: {} recorded", s.path, format_time(s.duration_ns));
  if (!s.command.empty()) out += fmt::format("; the program ended with {}", s.exit_code);
  out += "\n";
  for (const auto& d : s.devices) out += device_text(d, style);
  if (s.kernels > 0)
    out += fmt::format("kernels {}, copies and sets {}, steps {}\n", format_count(s.kernels),
                       format_count(s.copies), format_count(s.steps));
  if (s.host_cpu_seconds) {
    out += fmt::format("program: {:.1f} s of CPU", *s.host_cpu_seconds);
    if (s.host_memory_peak_bytes && *s.host_memory_peak_bytes > 0)
      out += fmt::format(", {} of memory at most", format_bytes(*s.host_memory_peak_bytes));
    out += "\n";
  }
  const double seconds = static_cast<double>(s.duration_ns) * 1e-9;
  out +=
      wrap(fmt::format("recorder: {:.2f} s of CPU ({:.1f} % of one core), {} of memory, {} on disk",
                       s.recorder_cpu_seconds,
                       seconds > 0 ? s.recorder_cpu_seconds / seconds * 100 : 0.0,
                       format_bytes(s.recorder_memory_bytes), format_bytes(s.file_bytes)),
           static_cast<std::size_t>(style.width));
  for (const auto& n : s.notes) out += wrap("note: " + n, static_cast<std::size_t>(style.width));
  return out;
}

}  // namespace gf
