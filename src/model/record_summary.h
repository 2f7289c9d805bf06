// What `record` says when the program has ended.
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
  static constexpr auto fields() {
    using D = RecordedDevice;
    return std::tuple{
        field("index", &D::index, "GPU number"),
        field("name", &D::name, "product name"),
        field("source", &D::source, "where levels come from: pm_sampling, gpm, nvml"),
        field("samples", &D::samples, "counter samples recorded"),
        field("lost", &D::lost, "counter samples that never arrived"),
        field("span_ns", &D::span_ns, "from the first sample with work to the end of the last one"),
        field("shares", &D::shares, "metric id: mean over the span"),
        field("sampled_ns", &D::sampled_ns, "the part of the span that samples cover"),
        field("totals", &D::totals, "metric id: sum over that part"),
        field("power_mean_watts", &D::power_mean_watts, "mean power over the span"),
        field("power_max_watts", &D::power_max_watts, "highest power reading"),
        field("energy_joules", &D::energy_joules,
              "energy of the whole recording, by the GPU's counter"),
        field("energy_integral_joules", &D::energy_integral_joules,
              "the same, from power readings"),
        field("memory_peak_bytes", &D::memory_peak_bytes, "most device memory in use"),
        field("temperature_max_celsius", &D::temperature_max_celsius, "highest temperature"),
        field("sm_clock_mean_hertz", &D::sm_clock_mean_hertz, "mean SM clock over the span"),
        field("throttle", &D::throttle, "why clocks were held down at some time"),
        field("step_ns", &D::step_ns, "period of the GPU's activity"),
        field("step_confidence", &D::step_confidence, "autocorrelation at that period, 0..1")};
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
  static constexpr auto fields() {
    using S = RecordSummary;
    return std::tuple{
        field("schema", &S::schema, "name and version of this layout"),
        field("path", &S::path, "the capture"),
        field("command", &S::command, "what ran"),
        field("exit_code", &S::exit_code, "its exit code"),
        field("duration_ns", &S::duration_ns, "its wall time"),
        field("host_cpu_seconds", &S::host_cpu_seconds, "CPU time of it and its children"),
        field("host_memory_peak_bytes", &S::host_memory_peak_bytes,
              "their resident memory, at most"),
        field("recorder_cpu_seconds", &S::recorder_cpu_seconds, "CPU time of the recorder itself"),
        field("recorder_memory_bytes", &S::recorder_memory_bytes,
              "its resident memory while recording, at most"),
        field("recorder_peak_bytes", &S::recorder_peak_bytes, "the same, its start included"),
        field("recorder_private_bytes", &S::recorder_private_bytes,
              "memory that no file backs, at the end"),
        field("file_bytes", &S::file_bytes, "size of the capture"),
        field("kernels", &S::kernels, "kernels recorded"),
        field("copies", &S::copies, "copies and sets recorded"),
        field("steps", &S::steps, "steps recorded"),
        field("devices", &S::devices, "GPUs"),
        field("notes", &S::notes, "fallbacks and losses")};
  }
};

}  // namespace gf
