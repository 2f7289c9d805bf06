// The summary that `record` prints when the program has ended.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/describe.h"
#include "core/time.h"

namespace gf {

struct RecordedDevice {
  std::int64_t index = -1;
  std::string name, source;  // source of levels: pm_sampling, gpm, nvml
  std::int64_t samples = 0, lost = 0;
  Nanos span_ns = 0;  // from the first sample with work to the end of the last one
  std::map<std::string, double> shares;  // metric id -> mean over span_ns, 0..1
  Nanos sampled_ns = 0;  // of the span, with samples: less than it when some never arrived
  std::map<std::string, double> totals;  // metric id -> sum over sampled_ns: bytes, sectors
  std::optional<double> power_mean_watts, power_max_watts;  // over span_ns, from instant power
  std::optional<double> energy_joules;           // over the whole recording, by the energy counter
  std::optional<double> energy_integral_joules;  // the same from instant power
  std::optional<std::int64_t> memory_peak_bytes;
  std::optional<double> temperature_max_celsius, sm_clock_mean_hertz;
  std::vector<std::string> throttle;
  std::optional<double> step_ns;  // period of the GPU's activity, when it has one
  double step_confidence = 0;     // autocorrelation at that period
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("index", &RecordedDevice::index, "GPU number");
    visit("name", &RecordedDevice::name, "product name");
    visit("source", &RecordedDevice::source, "where levels come from: pm_sampling, gpm, nvml");
    visit("samples", &RecordedDevice::samples, "counter samples recorded");
    visit("lost", &RecordedDevice::lost, "counter samples that never arrived");
    visit("span_ns", &RecordedDevice::span_ns,
          "from the first sample with work to the end of the last one");
    visit("shares", &RecordedDevice::shares, "metric id: mean over the span");
    visit("sampled_ns", &RecordedDevice::sampled_ns, "the part of the span that samples cover");
    visit("totals", &RecordedDevice::totals, "metric id: sum over that part");
    visit("power_mean_watts", &RecordedDevice::power_mean_watts, "mean power over the span");
    visit("power_max_watts", &RecordedDevice::power_max_watts, "highest power reading");
    visit("energy_joules", &RecordedDevice::energy_joules,
          "energy of the whole recording, by the GPU's counter");
    visit("energy_integral_joules", &RecordedDevice::energy_integral_joules,
          "the same, from power readings");
    visit("memory_peak_bytes", &RecordedDevice::memory_peak_bytes, "most device memory in use");
    visit("temperature_max_celsius", &RecordedDevice::temperature_max_celsius,
          "highest temperature");
    visit("sm_clock_mean_hertz", &RecordedDevice::sm_clock_mean_hertz,
          "mean SM clock over the span");
    visit("throttle", &RecordedDevice::throttle, "why clocks were held down at some time");
    visit("step_ns", &RecordedDevice::step_ns, "period of the GPU's activity");
    visit("step_confidence", &RecordedDevice::step_confidence,
          "autocorrelation at that period, 0..1");
  }
};

struct RecordSummary {
  std::string schema = "gpufathom.record/1";
  std::string path, command;
  int exit_code = 0;
  Nanos duration_ns = 0;
  std::optional<double> host_cpu_seconds;
  std::optional<std::int64_t> host_memory_peak_bytes;
  double recorder_cpu_seconds = 0;
  std::int64_t recorder_memory_bytes = 0, recorder_peak_bytes = 0, recorder_private_bytes = 0,
               file_bytes = 0;
  std::int64_t kernels = 0, copies = 0, steps = 0;  // of --kernels
  std::vector<RecordedDevice> devices;
  std::vector<std::string> notes;  // what the reader must know: fallbacks, losses
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &RecordSummary::schema, "name and version of this layout");
    visit("path", &RecordSummary::path, "the capture");
    visit("command", &RecordSummary::command, "what ran");
    visit("exit_code", &RecordSummary::exit_code, "its exit code");
    visit("duration_ns", &RecordSummary::duration_ns, "its wall time");
    visit("host_cpu_seconds", &RecordSummary::host_cpu_seconds, "CPU time of it and its children");
    visit("host_memory_peak_bytes", &RecordSummary::host_memory_peak_bytes,
          "their resident memory, at most");
    visit("recorder_cpu_seconds", &RecordSummary::recorder_cpu_seconds,
          "CPU time of the recorder itself");
    visit("recorder_memory_bytes", &RecordSummary::recorder_memory_bytes,
          "its resident memory while recording, at most");
    visit("recorder_peak_bytes", &RecordSummary::recorder_peak_bytes,
          "its memory that no file backs, at most, its start included");
    visit("recorder_private_bytes", &RecordSummary::recorder_private_bytes,
          "its memory that no file backs, at the end");
    visit("file_bytes", &RecordSummary::file_bytes, "size of the capture");
    visit("kernels", &RecordSummary::kernels, "kernels recorded");
    visit("copies", &RecordSummary::copies, "copies and sets recorded");
    visit("steps", &RecordSummary::steps, "steps recorded");
    visit("devices", &RecordSummary::devices, "GPUs");
    visit("notes", &RecordSummary::notes, "fallbacks and losses");
  }
};

}  // namespace gf
