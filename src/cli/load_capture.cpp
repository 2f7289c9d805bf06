#include "cli/load_capture.h"

#include "analyze/kernel_rates/kernel_rates.h"
#include "import/telemetry/timestamps.h"
#include "model/counter_values.h"

namespace gf::cli {

namespace {

SourceInfo source_of(const Capture& capture) {
  return {capture.path, capture.format, capture.framework, capture.events, capture.bytes};
}

}  // namespace

void add_input_options(Verb& verb, InputOptions& options) {
  verb.argument("FILE", options.trace, "trace or capture file").must().input();
  verb.option("--counters", options.counters, "FILE",
              "counter report of the same program: .ncu-rep, or CSV of ncu")
      .input();
  verb.option("--power", options.power, "FILE",
              "power log over the same time: CSV of nvidia-smi or of NVML")
      .input();
  auto& zone = verb.option("--zone", options.zone, "ZONE",
                           "zone of a log that gives local time, such as +01:00 (default UTC)");
  zone.set = [set = zone.set](const std::string& text) {
    return telemetry::parse_zone(text) ? set(text)
                                       : "'" + text + "' is not a zone such as +01:00 or -0530";
  };
  add_limit_options(verb, options.max_bytes, options.threads);
}

void add_limit_options(Verb& verb, std::uint64_t& max_bytes, unsigned& threads) {
  verb.option("--max-bytes", max_bytes, "SIZE",
              "give up on an input that unpacks to more (default 64GiB)")
      .size();
  verb.option("--threads", threads, "N", "threads to read with (default: all)");
}

Result<Loaded> load_capture(const InputOptions& wanted, const Progress& progress) {
  ImportOptions options;
  options.max_bytes = wanted.max_bytes;
  options.threads = wanted.threads;
  options.progress = progress;
  const auto zone = telemetry::parse_zone(wanted.zone);
  Loaded loaded;
  auto trace = import_file(wanted.trace, options);
  if (!trace) return tl::unexpected<Error>(trace.error());
  loaded.capture = std::move(*trace);
  if (zone) telemetry::leave_local_time(loaded.capture, *zone);
  if (!wanted.counters.empty()) {
    const auto report = import_file(wanted.counters, options);
    if (!report) return tl::unexpected<Error>(report.error());
    if (report->report_kernels.empty())
      return fail("holds no kernel counters", wanted.counters, -1,
                  "--counters wants a report of Nsight Compute: .ncu-rep, or its CSV from `ncu "
                  "--import FILE --csv --page raw`");
    loaded.counters = source_of(*report);
    loaded.capture.join(*report);
  } else if (loaded.capture.format == "gpufathom_record" ||
             loaded.capture.format == "nsight_systems") {
    // Kernels recorded beside counter samples (Nsight Systems: --gpu-metrics-devices): the samples
    // taken apart stand in for a report.
    loaded.kernel_rates = add_solved_counters(loaded.capture);
    if (!loaded.kernel_rates.empty())
      loaded.counters = SourceInfo{loaded.capture.path, "kernel_rates", "", 0, 0};
  }
  if (!wanted.power.empty()) {
    auto log = import_file(wanted.power, options);
    if (!log) return tl::unexpected<Error>(log.error());
    if (zone) telemetry::leave_local_time(*log, *zone);
    if (!holds_counter_values(*log))
      return fail("holds no power samples", wanted.power, -1,
                  "--power wants a log of nvidia-smi or NVML as CSV");
    loaded.capture.join(*log);
    loaded.kernel_rates.clear();  // they knew neither its samples nor its devices
  }
  return loaded;
}

}  // namespace gf::cli
