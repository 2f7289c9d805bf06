// Rules for recordings and logs that know no kernel.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "analyze/findings/sample_facts.h"
#include "analyze/sampled/series.h"

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
  const auto value = level(id), of = level("gpu.busy");
  return value && of && *of > 0 ? Share(std::min(1.0, *value / *of)) : Share();
}

const SampledReading* SampleFacts::host(std::string_view id) const {
  for (const auto& reading : analysis.samples.host)
    if (reading.id == id && reading.mean) return &reading;
  return nullptr;
}

namespace sample_rules {

std::optional<Finding> shallow_source(const Facts& f) {
  for (const auto& d : f.analysis.samples.devices)
    if (d.source != SampleSource::nvml) return {};
  if (f.analysis.samples.devices.empty() || !f.level("gpu.busy")) return {};
  return Finding{
      FindingId::shallow_source,
      std::string("Only NVML's utilisation is known: it says that some kernel ran, on one SM or on "
                  "all. How deep the GPU is used takes hardware counters: ") +
          std::string(f.capture.format == "gpufathom_record"
                          ? "gpufathom doctor says what kept the recorder from them."
                          : "run the program under gpufathom record."),
      fmt::format("utilisation {} of the time", say_share(*f.level("gpu.busy"))),
      {}};
}

std::optional<Finding> start_up_in_window(const Facts& f) {
  const auto& w = f.analysis.window;
  if (f.settled.length() <= 0 || w.kind != WindowKind::all) return {};
  const Nanos before = f.settled.start - w.start_ns, after = w.end_ns - f.settled.end;
  if (before + after < w.duration_ns / 20) return {};
  std::string evidence =
      fmt::format("steady for {} of {}", say_time(f.settled.length()), say_time(w.duration_ns));
  if (before > 0) evidence += fmt::format("; {} before", say_time(before));
  if (after > 0) evidence += fmt::format("; {} after", say_time(after));
  return Finding{FindingId::start_up_in_window,
                 "The window holds time before or after the GPU's activity was steady, such as "
                 "loading, compiling and warm-up; --window stable leaves it out.",
                 evidence,
                 {}};
}

std::optional<Finding> gpu_idle(const Facts& f) {
  if (f.of_window(f.idle) < 0.05) return {};
  std::string why, evidence = fmt::format("idle {} of {}", say_time(f.idle), say_time(f.window));
  if (const auto* cpu = f.host("host.cpu")) {
    evidence += fmt::format("; the program's processes use {:.2f} CPU cores", *cpu->mean);
    if (*cpu->mean < 0.3)
      why =
          " Its processes hardly compute, so they wait as well: for input, the disk or the "
          "network.";
    else if (*cpu->mean < 1.5)
      why =
          " Its processes keep about one core busy: a single thread that prepares or launches work "
          "is the likely limit.";
    else
      why =
          " Its processes compute on several cores meanwhile: preparing input on the CPU is the "
          "likely limit.";
  }
  return Finding{FindingId::gpu_idle,
                 fmt::format("The GPU has nothing to run {} of the time.{} Record with --kernels "
                             "to see what the host does then.",
                             say_share(f.of_window(f.idle)), why),
                 evidence, f.idle};
}

std::optional<Finding> sms_without_work(const Facts& f) {
  if (f.of_busy(f.sm_inactive) < 0.25) return {};
  std::string evidence = fmt::format("{} of {} busy", say_time(f.sm_inactive), say_time(f.busy));
  if (const auto occupancy = f.while_busy("sm.occupancy"))
    evidence += fmt::format("; warp slots filled {}", say_share(*occupancy));
  return Finding{FindingId::sms_without_work,
                 fmt::format("While kernels run, {} of the SMs' time passes without a warp: grids "
                             "are too small or end unevenly. Larger batches, fewer and larger "
                             "kernels, or kernels beside each other fill them.",
                             say_share(f.of_busy(f.sm_inactive))),
                 evidence, f.sm_inactive};
}

std::optional<Finding> memory_bound(const Facts& f) {
  const auto dram = f.while_busy("dram.active");
  if (!dram || *dram < 0.6) return {};
  return Finding{FindingId::memory_bound,
                 "Memory bandwidth limits it: only moving fewer bytes makes it faster (fusion, "
                 "smaller types).",
                 fmt::format("{} of the bandwidth while kernels run", say_share(*dram)),
                 {}};
}

std::optional<Finding> waiting_warps(const Facts& f) {
  const auto dram = f.while_busy("dram.active");
  if (f.of_busy(f.stalled) < 0.4 || (dram && *dram >= 0.6)) return {};
  std::string evidence =
      fmt::format("stalled {} of {} busy", say_time(f.stalled), say_time(f.busy));
  if (dram) evidence += fmt::format("; memory bandwidth {} while kernels run", say_share(*dram));
  if (const auto occupancy = f.while_busy("sm.occupancy"))
    evidence += fmt::format("; warp slots filled {}", say_share(*occupancy));
  return Finding{FindingId::waiting_warps,
                 fmt::format("While kernels run, warps are there and nothing is issued {} of the "
                             "time: they wait for memory, barriers or each other, and the "
                             "bandwidth is not the limit. More warps, or more independent work "
                             "in each, hide latency; record --kernels says which kernels wait.",
                             say_share(f.of_busy(f.stalled))),
                 evidence, f.stalled};
}

std::optional<Finding> idle_tensor_cores(const Facts& f) {
  const auto tensor = f.while_busy("tensor.active");
  if (!tensor || *tensor >= 0.02 || f.of_window(f.busy) < 0.05) return {};
  return Finding{FindingId::idle_tensor_cores,
                 "The tensor cores hardly work. If the program multiplies matrices, bfloat16, FP16 "
                 "or TF32 moves that onto them (torch.autocast, allow_tf32).",
                 fmt::format("tensor pipes active {} of the time that kernels run",
                             *tensor > 0 ? say_share(*tensor) : std::string("0 %")),
                 {}};
}

namespace {

/// NVML's reasons that take clock away; the others only say that there was nothing to do.
struct Limit {
  std::uint64_t bits;
  const char* words;
};
constexpr Limit kLimits[] = {{0x4, "the power cap"},
                             {0x20 | 0x40, "temperature"},
                             {0x8 | 0x80, "a hardware slow-down (power supply or brake)"}};

}  // namespace

std::optional<Finding> held_clocks(const Facts& f) {
  const Text id = f.capture.strings.find("clock.limits");
  if (id == Text::none) return {};
  double known = 0, limited[std::size(kLimits)] = {};
  each_sample_span(f.capture, {f.analysis.window.start_ns, f.analysis.window.end_ns},
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
  std::string evidence;
  for (const auto& d : f.analysis.samples.devices)
    for (const auto& r : d.readings) {
      if (!r.mean) continue;
      if (r.id == "clock.sm")
        evidence += fmt::format("{}SM clock {:.0f} MHz, lowest {:.0f}",
                                evidence.empty() ? "" : "; ", *r.mean * 1e-6, *r.low * 1e-6);
      else if (r.id == "power.module")
        evidence += fmt::format("{}{:.0f} W", evidence.empty() ? "" : "; ", *r.mean);
    }
  return Finding{FindingId::held_clocks,
                 fmt::format("Clocks were held down {} of the time by {}.",
                             say_share(*most / known), kLimits[most - std::begin(limited)].words),
                 evidence,
                 {}};
}

std::optional<Finding> room_in_memory(const Facts& f) {
  // Worth saying only where larger batches would fill idle parts.
  if (f.of_window(f.idle) + f.of_window(f.sm_inactive) < 0.25) return {};
  for (const auto& d : f.analysis.samples.devices)
    for (const auto& r : d.readings) {
      if (r.id != "memory.used" || !r.high) continue;
      for (std::size_t row = 0; row < f.capture.devices.size(); ++row) {
        const auto whole = static_cast<double>(f.capture.devices.memory_bytes[row]);
        if (f.capture.devices.id[row] != d.id || whole <= 0 || *r.high / whole >= 0.4) continue;
        return Finding{FindingId::room_in_memory,
                       fmt::format("At most {} of the GPU's memory is used: larger batches, or "
                                   "several programs on one GPU, fit.",
                                   say_share(*r.high / whole)),
                       fmt::format("{:.1f} of {:.1f} GB", *r.high * 1e-9, whole * 1e-9),
                       {}};
      }
    }
  return {};
}

std::optional<Finding> unused_devices(const Facts& f) {
  const auto n = f.analysis.samples.idle_devices;
  if (n == 0 || f.analysis.samples.devices.empty()) return {};
  return Finding{FindingId::unused_devices,
                 fmt::format("{} recorded and never worked; {} left out of the shares above.",
                             n == 1 ? "Another GPU was" : fmt::format("{} other GPUs were", n),
                             n == 1 ? "it is" : "they are"),
                 fmt::format("of {} GPUs {} worked",
                             n + static_cast<std::int64_t>(f.analysis.samples.devices.size()),
                             f.analysis.samples.devices.size()),
                 {}};
}

}  // namespace sample_rules

}  // namespace gf
