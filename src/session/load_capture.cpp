#include "session/load_capture.h"

#include "analyze/source_sections.h"
#include "import/telemetry/timestamps.h"
#include "model/counter_values.h"
#include "model/formats.h"
#include "model/ledger/ledger.h"

namespace gf {

namespace {

ImportOptions import_options(const InputOptions& wanted, const Progress& progress) {
  ImportOptions options;
  options.max_bytes = wanted.max_bytes;
  options.threads = wanted.threads;
  options.progress = progress;
  return options;
}

}  // namespace

Result<Loaded> load_capture(const InputOptions& wanted, const Progress& progress) {
  auto trace = import_file(wanted.trace, import_options(wanted, progress));
  if (!trace) return tl::unexpected<Error>(trace.error());
  return join_measured(std::move(*trace), wanted, progress);
}

Result<Loaded> join_measured(Capture trace, const InputOptions& wanted, const Progress& progress) {
  const ImportOptions options = import_options(wanted, progress);
  const auto zone = telemetry::parse_zone(wanted.zone);
  Loaded loaded;
  const auto capture = std::make_shared<Capture>(std::move(trace));
  if (zone) telemetry::leave_local_time(*capture, *zone);
  if (!wanted.counters.empty()) {
    const auto report = import_file(wanted.counters, options);
    if (!report) return tl::unexpected<Error>(report.error());
    if (report->report_kernels.empty())
      return fail("contains no kernel counters", wanted.counters, -1,
                  "--counters requires a report of Nsight Compute: .ncu-rep, or its CSV from `ncu "
                  "--import FILE --csv --page raw`");
    loaded.counters = source_of(*report);
    capture->join(*report);
  } else if (says(capture->format, kSamplesBesideKernels)) {
    // Kernels recorded beside counter samples (Nsight Systems: --gpu-metrics-devices): the samples
    // taken apart stand in for a report.
    loaded.kernel_rates = add_solved_counters(*capture);
    if (!loaded.kernel_rates.empty())
      loaded.counters = SourceInfo{capture->path, "kernel_rates", "", 0, 0};
  }
  if (!wanted.power.empty()) {
    auto log = import_file(wanted.power, options);
    if (!log) return tl::unexpected<Error>(log.error());
    if (zone) telemetry::leave_local_time(*log, *zone);
    if (!holds_counter_values(*log))
      return fail("contains no power samples", wanted.power, -1,
                  "--power requires a log of nvidia-smi or NVML as CSV");
    capture->join(*log);
    check_cover(*capture);
    loaded.kernel_rates.clear();  // they knew neither its samples nor its devices
    loaded.power = wanted.power;
  }
  loaded.capture = capture;
  return loaded;
}

}  // namespace gf
