// Rules for recordings and logs that know no kernel.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>

#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "analyze/sampled/levels.h"
#include "core/text.h"
#include "model/formats.h"
#include "model/metrics.h"
#include "model/vendor.h"

namespace gf {

SampleFacts::SampleFacts(const Capture& from, const Analysis& of, Interval steady)
    : capture(from), analysis(of), settled(steady) {
  for (const auto& device : analysis.devices) {
    window += device.span_ns;
    busy += device.kernel_busy_ns;
    for (const auto& bar : device.waterfall) {
      if (bar.id == Bar::idle) idle += bar.ns;
      if (bar.id == Bar::sm_inactive) sm_inactive += bar.ns;
      if (bar.id == Bar::stalled) stalled += bar.ns;
    }
  }
}

Share SampleFacts::level(std::string_view id) const {
  for (const auto& level : analysis.levels)
    if (level.id == id) return level.value;
  return {};
}

Share SampleFacts::while_busy(std::string_view id) const {
  const auto value = level(id), of = level("gpu.busy"_metric);
  return value && of && *of > 0 ? Share(std::min(1.0, *value / *of)) : Share();
}

const SampledReading* SampleFacts::host(std::string_view id) const {
  for (const auto& reading : analysis.samples.host)
    if (reading.id == id && reading.mean) return &reading;
  return nullptr;
}

namespace {

/// The reason why the capture was kept: the recorder knew what is usual, the capture alone does
/// not.
std::optional<Said> kept_moment(const Capture& capture, const Analysis& analysis) {
  const auto moments = capture.metadata_value("flight.moments");
  if (moments.empty()) return {};
  Nanos at = 0;
  const auto time = capture.metadata_value("flight.time_ns");
  std::from_chars(time.data(), time.data() + time.size(), at);
  const auto& window = analysis.window;
  std::string evidence;
  if (at >= window.start_ns && at <= window.end_ns)
    evidence = fmt::format("{} after the window's start", say_time(at - window.start_ns));
  return Said{fmt::format("This capture was kept by the flight recorder: {}.", moments), evidence};
}

}  // namespace

std::optional<Said> trace_rules::flight_moment(const TraceFacts& facts) {
  return kept_moment(facts.capture(), facts.analysis);
}

namespace sample_rules {

std::optional<Said> shallow_source(const Facts& facts) {
  for (const auto& device : facts.analysis.samples.devices)
    if (device.source != SampleSource::nvml) return {};
  if (facts.analysis.samples.devices.empty() || !facts.level("gpu.busy"_metric)) return {};
  if (const auto& terms = terms_of(vendor_of(facts.capture)); terms.vendor == Vendor::amd)
    return Said{
        "Only the driver's utilization is known: it says that some kernel ran, on one "
        "compute unit or on all. rocprofv3 records when kernels ran, rocprof-compute "
        "measures inside them.",
        fmt::format("utilization {} of the time", say_share(*facts.level("gpu.busy"_metric))),
        {},
        std::string(terms.inside)};
  return Said{
      std::string("Only NVML utilization is known: it says that some kernel ran, on one SM or on "
                  "all. Utilization by level needs hardware counters: ") +
          std::string(says(facts.capture.format, kOurRecorder)
                          ? "gpufathom doctor shows why the recorder had none."
                          : "run the program under gpufathom record."),
      fmt::format("utilization {} of the time", say_share(*facts.level("gpu.busy"_metric)))};
}

std::optional<Said> flight_moment(const Facts& facts) {
  return kept_moment(facts.capture, facts.analysis);
}

std::optional<Said> start_up_in_window(const Facts& facts) {
  if (!facts.capture.metadata_value("flight.moments").empty()) return {};
  const auto& window = facts.analysis.window;
  if (facts.settled.length() <= 0 || window.kind != WindowKind::all) return {};
  const Nanos before = facts.settled.start - window.start_ns,
              after = window.end_ns - facts.settled.end;
  if (before + after < window.duration_ns / 20) return {};
  std::string evidence = fmt::format("steady for {} of {}", say_time(facts.settled.length()),
                                     say_time(window.duration_ns));
  if (before > 0) evidence += fmt::format("; {} before", say_time(before));
  if (after > 0) evidence += fmt::format("; {} after", say_time(after));
  return Said{
      "The window includes time before or after the GPU's activity was steady, such as "
      "loading, compilation and warm-up; --window stable excludes it.",
      evidence};
}

std::optional<Said> gpu_idle(const Facts& facts) {
  if (facts.of_window(facts.idle) < 0.05) return {};
  std::string why,
      evidence = fmt::format("idle {} of {}", say_time(facts.idle), say_time(facts.window));
  if (const auto* cpu = facts.host("host.cpu"_metric)) {
    evidence += fmt::format("; the program's processes use {:.2f} CPU cores", *cpu->mean);
    if (*cpu->mean < 0.3)
      why =
          " Its processes use little CPU, so they wait as well: for input, the disk or the "
          "network.";
    else if (*cpu->mean < 1.5)
      why =
          " Its processes keep about one core busy: a single thread that prepares or launches work "
          "is the likely bottleneck.";
    else
      why =
          " Its processes use several cores meanwhile: preparing input on the CPU is the likely "
          "bottleneck.";
  }
  return Said{fmt::format("The GPU is idle {} of the time.{} {} to see what the host does "
                          "meanwhile.",
                          say_share(facts.of_window(facts.idle)), why,
                          vendor_of(facts.capture) == Vendor::amd
                              ? "Record with rocprofv3 --kernel-trace --hip-trace"
                              : "Record with --kernels"),
              evidence, facts.idle};
}

std::optional<Said> sms_without_work(const Facts& facts) {
  if (facts.of_busy(facts.sm_inactive) < 0.25) return {};
  std::string evidence =
      fmt::format("{} of {} busy", say_time(facts.sm_inactive), say_time(facts.busy));
  if (const auto occupancy = facts.while_busy("sm.occupancy"_metric))
    evidence += fmt::format("; achieved occupancy {}", say_share(*occupancy));
  return Said{
      fmt::format(
          "While kernels run, SMs are idle for {} of their time: grids are too small or have long "
          "tails. Larger batches, fewer and larger kernels, or concurrent kernels fill them.",
          say_share(facts.of_busy(facts.sm_inactive))),
      evidence, facts.sm_inactive};
}

std::optional<Said> memory_bound(const Facts& facts) {
  const auto dram = facts.while_busy("dram.active"_metric);
  if (!dram || *dram < 0.6) return {};
  return Said{"Memory-bound: only moving fewer bytes makes it faster (fusion, smaller types).",
              fmt::format("{} of the bandwidth while kernels run", say_share(*dram))};
}

std::optional<Said> waiting_warps(const Facts& facts) {
  const auto dram = facts.while_busy("dram.active"_metric);
  if (facts.of_busy(facts.stalled) < 0.4 || (dram && *dram >= 0.6)) return {};
  std::string evidence =
      fmt::format("stalled {} of {} busy", say_time(facts.stalled), say_time(facts.busy));
  if (dram) evidence += fmt::format("; memory bandwidth {} while kernels run", say_share(*dram));
  if (const auto occupancy = facts.while_busy("sm.occupancy"_metric))
    evidence += fmt::format("; achieved occupancy {}", say_share(*occupancy));
  return Said{
      fmt::format("While kernels run, warps are resident and none is eligible {} of the time: they "
                  "wait for memory, barriers or each other, and DRAM throughput is not the limit. "
                  "More warps, or more independent instructions in each, hide latency; record "
                  "--kernels shows which kernels stall.",
                  say_share(facts.of_busy(facts.stalled))),
      evidence, facts.stalled};
}

std::optional<Said> idle_tensor_cores(const Facts& facts) {
  const auto tensor = facts.while_busy("tensor.active"_metric);
  if (!tensor || *tensor >= 0.02 || facts.of_window(facts.busy) < 0.05) return {};
  return Said{
      "The tensor cores are nearly unused. If the program multiplies matrices, "
      "BF16, FP16 or TF32 runs that on them (mixed precision; allow_tf32 in PyTorch).",
      fmt::format("tensor pipes active {} of the time that kernels run",
                  *tensor > 0 ? say_share(*tensor) : std::string("0 %"))};
}

namespace {

/// NVML's reasons that take clock away; the others only say that there was nothing to do.
struct Limit {
  std::uint64_t bits;
  const char* words;
};
constexpr Limit kLimits[] = {{0x4, "the power cap"},
                             {0x20 | 0x40, "temperature"},
                             {0x8 | 0x80, "a hardware slowdown (power supply or brake)"}};

}  // namespace

std::optional<Said> held_clocks(const Facts& facts) {
  const Text id = facts.capture.strings.find("clock.limits"_metric);
  if (id == Text::none) return {};
  double known = 0, limited[std::size(kLimits)] = {};
  each_sample_span(facts.capture, {facts.analysis.window.start_ns, facts.analysis.window.end_ns},
                   CounterFilter{{}, {id}},
                   [&](std::uint32_t, Text, Nanos start, Nanos end, double value) {
                     if (!(value >= 0)) return;
                     known += static_cast<double>(end - start);
                     for (std::size_t i = 0; i < std::size(kLimits); ++i)
                       if (static_cast<std::uint64_t>(value) & kLimits[i].bits)
                         limited[i] += static_cast<double>(end - start);
                   });
  const auto most = std::max_element(std::begin(limited), std::end(limited));
  if (known <= 0 || *most / known < 0.05) return {};
  std::set<std::string> readings;  // of devices that show the same, once
  for (const auto& device : facts.analysis.samples.devices) {
    std::string text;
    for (const auto& reading : device.readings) {
      if (!reading.mean) continue;
      if (reading.id == "clock.sm"_metric)
        text += fmt::format("{}SM clock {:.0f} MHz, lowest {:.0f}", text.empty() ? "" : "; ",
                            *reading.mean * 1e-6, *reading.low * 1e-6);
      else if (reading.id == "power.module"_metric)
        text += fmt::format("{}{:.0f} W", text.empty() ? "" : "; ", *reading.mean);
    }
    if (!text.empty()) readings.insert(text);
  }
  return Said{fmt::format("Clocks were throttled {} of the time by {}.", say_share(*most / known),
                          kLimits[most - std::begin(limited)].words),
              fmt::format("{}", fmt::join(readings, "; "))};
}

std::optional<Said> room_in_memory(const Facts& facts) {
  // Worth saying only where larger batches would fill idle parts.
  if (facts.of_window(facts.idle) + facts.of_window(facts.sm_inactive) < 0.25) return {};
  for (const auto& device : facts.analysis.samples.devices)
    for (const auto& reading : device.readings) {
      if (reading.id != "memory.used"_metric || !reading.high) continue;
      for (std::size_t row = 0; row < facts.capture.devices.size(); ++row) {
        const auto whole = static_cast<double>(facts.capture.devices.memory_bytes[row]);
        if (facts.capture.devices.id[row] != device.id || whole <= 0 ||
            *reading.high / whole >= 0.4)
          continue;
        return Said{fmt::format("At most {} of GPU memory is used: a larger batch, or several "
                                "programs on one GPU, would fit.",
                                say_share(*reading.high / whole)),
                    fmt::format("{:.1f} of {:.1f} GB", *reading.high * 1e-9, whole * 1e-9)};
      }
    }
  return {};
}

std::optional<Said> unused_devices(const Facts& facts) {
  const auto idle = facts.analysis.samples.idle_devices;
  if (idle == 0 || facts.analysis.samples.devices.empty()) return {};
  return Said{fmt::format("{} recorded and idle throughout; {} excluded from the shares above.",
                          idle == 1 ? "Another GPU was" : fmt::format("{} other GPUs were", idle),
                          idle == 1 ? "it is" : "they are"),
              fmt::format("of {} GPUs {} worked",
                          idle + static_cast<std::int64_t>(facts.analysis.samples.devices.size()),
                          facts.analysis.samples.devices.size())};
}

}  // namespace sample_rules

}  // namespace gf
