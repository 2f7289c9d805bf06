#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "model/levels.h"
#include "model/metrics.h"
#include "report/labels.h"
#include "report/text/format.h"
#include "report/text/reports.h"

namespace gf {

namespace {

std::string bar(double share, const TextStyle& style) {
  constexpr int width = 30;
  const int full = static_cast<int>(share * width + 0.5);
  std::string out;
  for (int i = 0; i < width; ++i) {
    if (i < full) {
      out += style.utf8 ? "█" : "#";
    } else if (style.utf8) {
      out += "░";
    } else {
      out += ".";
    }
  }
  return out;
}

std::string_view levels_from(std::string_view source) {
  if (source == "pm_sampling") return "PM sampling";
  return source == "gpm" ? "NVML GPM (10 Hz)" : "none (NVML only)";
}

/// The lines above the levels, or in their place.
std::string levels_title(const RecordedDevice& device) {
  if (!device.shares.empty())
    return fmt::format("  while it had work, {} from first to last:\n",
                       format_time(device.span_ns));
  if (device.source == "nvml") return "  no levels recorded\n";
  return device.samples == 0 ? "  no sample arrived\n" : "  the GPU did no work\n";
}

std::string levels_text(const RecordedDevice& device, const TextStyle& style) {
  std::string out = levels_title(device);
  each_sampled(kLive, [&](std::string_view id) {
    if (const auto share = device.shares.find(std::string(id)); share != device.shares.end())
      out += fmt::format("    {:<22}{:>7}  {}\n", label_of_metric(id).text,
                         format_share(share->second), bar(share->second, style));
  });
  return out;
}

std::string dram_text(const RecordedDevice& device) {
  const double seconds = static_cast<double>(device.sampled_ns) * 1e-9;
  const auto read = device.totals.find("dram.read"_metric),
             written = device.totals.find("dram.write"_metric);
  if (seconds <= 0 || read == device.totals.end() || written == device.totals.end() ||
      read->second < 0 || written->second < 0)
    return "";
  return fmt::format("    DRAM {}/s read, {}/s written\n",
                     format_bytes(static_cast<std::int64_t>(read->second / seconds)),
                     format_bytes(static_cast<std::int64_t>(written->second / seconds)));
}

std::string power_text(const RecordedDevice& device) {
  std::string power;
  if (device.power_mean_watts)
    power += fmt::format("power {:.0f} W mean, {:.0f} W most", *device.power_mean_watts,
                         device.power_max_watts.value_or(0));
  if (device.energy_joules)
    power += fmt::format("{}energy {:.0f} J", power.empty() ? "" : "; ", *device.energy_joules);
  if (device.energy_joules && device.energy_integral_joules)
    power += fmt::format(" ({:.0f} J from power readings)", *device.energy_integral_joules);
  return power;
}

std::string state_text(const RecordedDevice& device) {
  std::string state;
  if (device.memory_peak_bytes)
    state += "memory " + format_bytes(*device.memory_peak_bytes) + " at most";
  if (device.sm_clock_mean_hertz)
    state += fmt::format("{}SM clock {:.0f} MHz mean", state.empty() ? "" : "; ",
                         *device.sm_clock_mean_hertz * 1e-6);
  if (device.temperature_max_celsius)
    state += fmt::format("{}{:.0f} C at most", state.empty() ? "" : "; ",
                         *device.temperature_max_celsius);
  return state;
}

std::string throttle_text(const RecordedDevice& device) {
  if (device.throttle.empty()) return "";
  std::string words;
  for (const auto& cause : device.throttle) words += (words.empty() ? "" : ", ") + cause;
  return "clocks were throttled at times by " + words;
}

std::string step_text(const RecordedDevice& device) {
  if (!device.step_ns) return "";
  std::string step =
      fmt::format("the GPU's activity repeats every {} (correlation {:.2f})",
                  format_time(static_cast<Nanos>(*device.step_ns)), device.step_confidence);
  if (device.power_mean_watts)
    step += fmt::format(": {:.3g} J a step", *device.power_mean_watts * *device.step_ns * 1e-9);
  return step;
}

/// A file's name as a word of a command that can be copied.
std::string shell_word(const std::string& path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./+,:@%=";
  if (path.find_first_not_of(kPlain) == path.npos) return path;
  std::string word = "'";
  for (const char letter : path) word += letter == '\'' ? "'\\''" : std::string(1, letter);
  return word + "'";
}

bool did_the_same(const RecordedDevice& left, const RecordedDevice& right) {
  return left.name == right.name && left.source == right.source && left.lost == right.lost &&
         left.throttle == right.throttle && left.step_ns.has_value() == right.step_ns.has_value() &&
         nearly_equal(left.step_ns.value_or(0), right.step_ns.value_or(0)) &&
         nearly_equal(left.power_mean_watts.value_or(0), right.power_mean_watts.value_or(0)) &&
         nearly_equal(left.energy_joules.value_or(0), right.energy_joules.value_or(0)) &&
         std::equal(left.shares.begin(), left.shares.end(), right.shares.begin(),
                    right.shares.end(), [](const auto& one, const auto& other) {
                      return one.first == other.first && nearly_equal(one.second, other.second);
                    });
}

std::string device_text(std::span<const RecordedDevice> run, const TextStyle& style) {
  const auto& device = run.front();
  std::string out = fmt::format("{}  {}  levels: {}", gpu_numbers(device.index, run.back().index),
                                device.name, levels_from(device.source));
  if (device.samples > 0) out += fmt::format(", {} samples", format_count(device.samples));
  if (device.lost > 0) out += fmt::format(", {} lost", format_count(device.lost));
  out += "\n";
  if (run.size() > 1) out += fmt::format("  alike within 2 %; of GPU {}:\n", device.index);
  out += levels_text(device, style) + dram_text(device);
  for (const std::string& line :
       {power_text(device), state_text(device), throttle_text(device), step_text(device)})
    if (!line.empty()) out += "  " + line + "\n";
  return out;
}

}  // namespace

std::string record_summary_text(const RecordSummary& summary, const TextStyle& style) {
  std::string out = fmt::format("{}: {} recorded", summary.path, format_time(summary.duration_ns));
  if (!summary.command.empty())
    out += fmt::format("; the program ended with {}", summary.exit_code);
  out += "\n";
  for (const auto& run : runs_alike(summary.devices, did_the_same)) out += device_text(run, style);
  if (summary.kernels > 0)
    out += fmt::format("kernels {}, copies and sets {}, steps {}\n", format_count(summary.kernels),
                       format_count(summary.copies), format_count(summary.steps));
  if (summary.host_cpu_seconds) {
    out += fmt::format("program: {:.1f} s of CPU", *summary.host_cpu_seconds);
    if (summary.host_memory_peak_bytes && *summary.host_memory_peak_bytes > 0)
      out += fmt::format(", {} of memory at most", format_bytes(*summary.host_memory_peak_bytes));
    out += "\n";
  }
  const double seconds = static_cast<double>(summary.duration_ns) * 1e-9;
  out += wrap(
      fmt::format("recorder: {:.2f} s of CPU ({:.1f} % of one core), {} of memory, {} on disk",
                  summary.recorder_cpu_seconds,
                  seconds > 0 ? summary.recorder_cpu_seconds / seconds * 100 : 0.0,
                  format_bytes(summary.recorder_memory_bytes), format_bytes(summary.file_bytes)),
      static_cast<std::size_t>(style.width));
  for (const auto& note : summary.notes)
    out += wrap("note: " + note, static_cast<std::size_t>(style.width));
  return out + fmt::format("next: gpufathom analyze {} (-o report.html for the page)\n",
                           shell_word(summary.path));
}

}  // namespace gf
