#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "analyze/energy/attribute.h"
#include "analyze/energy/power_curve.h"
#include "analyze/energy/work.h"
#include "core/text.h"
#include "model/vendor.h"

namespace gf {

namespace {

void warn(DeviceEnergy& energy, const char* code, std::string text) {
  energy.warnings.push_back({code, std::move(text)});
}

std::string list(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (!out.empty() ? ", " : "") + word;
  return out;
}

const EnergyPart* part(const DeviceEnergy& energy, std::string_view id) {
  for (const auto& part : energy.parts)
    if (part.component == id) return &part;
  return nullptr;
}

/// Counts from another column of the same accesses, so that a feature without a counter of
/// its own is not missed.
bool stood_in_for(std::string_view feature, const EnergyEvaluator& model,
                  const std::vector<bool>& counted) {
  auto has = [&](std::string_view name) {
    const auto column = model.column(name);
    return column < counted.size() && counted[column];
  };
  if (feature.starts_with("shared.")) return has("shared.access");
  if (feature == "l1.load" || feature == "tma.load") return has("l1.fill");
  if (feature == kDramAwake) return has("dram.read");
  return feature.starts_with("tensor.") && has("tensor.cycle");
}

bool is_stand_in(std::string_view feature) {
  return feature == "tensor.cycle" || feature == "shared.access" || feature == "l1.fill";
}

}  // namespace

std::string energy_ncu_command() {
  std::string counters = "sm__cycles_active.sum,sm__cycles_elapsed.sum";
  auto names = energy_counter_names();
  for (const auto& work : termless_work())
    for (auto& name : counters_in(work.counters))
      if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(std::move(name));
  for (const auto& name : names) counters += "," + name;
  return "ncu --launch-count 2000 --clock-control none --cache-control none --metrics " + counters +
         " --csv --page raw --log-file counters.csv python train.py";
}

std::string energy_record_command() {
  return "gpufathom record --kernels --metrics energy -o run.gpf -- python train.py";
}

namespace {

/// Columns of the model that nothing counted.
void doubt_missing_counts(const Capture& capture, const EnergyEvaluator& model,
                          const std::vector<bool>& counted, DeviceEnergy& energy) {
  std::vector<std::string> components;
  std::size_t missing = 0;
  for (std::size_t column = EnergyEvaluator::kFeatures; column < model.columns(); ++column) {
    const auto& feature = model.feature(column);
    if (counted[column] || is_stand_in(feature) || stood_in_for(feature, model, counted) ||
        model.joules(column) <= 0)
      continue;
    ++missing;
    const auto& component = model.components()[model.component_of(column)];
    if (std::find(components.begin(), components.end(), component) == components.end())
      components.push_back(component);
  }
  if (missing == 0) return;
  std::string advice = " Collect them: ";
  if (capture.metadata_value("record.metrics") == "energy") {
    advice = " Only a counter report has them";  // no more can be sampled in one pass
  } else if (energy.counts_source == CountsSource::samples) {
    advice += energy_record_command();
  } else {
    advice += energy_ncu_command();
  }
  warn(energy, "not_counted",
       fmt::format("the capture lacks the counters of {} of the model's features: what {} took by "
                   "them is part of the rest.{}",
                   missing, list(components), advice));
}

/// Time whose counts are not known.
void doubt_coverage(bool unresolved, DeviceEnergy& energy) {
  if (energy.counts_source == CountsSource::counter_report && energy.coverage &&
      *energy.coverage < 0.999)
    warn(energy, "kernels_without_counters",
         fmt::format("{:.1f} % of kernel time has no counters: its accesses and operations are "
                     "part of the rest",
                     100 * (1 - *energy.coverage)));
  if (energy.counts_source == CountsSource::samples && energy.coverage && *energy.coverage < 0.99)
    warn(energy, "samples_missing",
         fmt::format("samples cover {:.1f} % of the span; the counts are scaled to the whole span",
                     100 * *energy.coverage));
  if (unresolved)
    warn(energy, "kernels_not_resolved",
         "samples and kernels cannot be aligned: components are correct for the span, but divided "
         "among kernels by time alone");
}

void doubt_tma(const Capture& capture, std::uint32_t device, const EnergyEvaluator& model,
               const std::vector<bool>& counted, DeviceEnergy& energy) {
  const auto tma = model.column("tma.load");
  const bool hopper = capture.devices.compute_major[device] >= 9 ||
                      energy.name.find("H100") != std::string::npos ||
                      energy.name.find("H200") != std::string::npos;
  if (hopper && (tma >= model.columns() || !counted[tma]) &&
      !stood_in_for("tma.load", model, counted))
    warn(energy, "tma",
         "TMA copies bypass the load-store counters of L1 and shared memory: their traffic is "
         "counted at L2 and DRAM, their writes to shared memory are part of the rest");
}

void doubt_negative_rest(DeviceEnergy& energy) {
  const auto* rest = part(energy, "rest");
  if (!rest || rest->nj >= 0) return;
  const char* reason =
      ": operands that toggle fewer bits, a lower clock, or kernels unlike those of its fit";
  if (rest->high_nj >= 0) reason = ", which is within its interval";
  warn(energy, "rest_negative",
       fmt::format("the model explains {:.1f} % more than was measured{}",
                   -100.0 * static_cast<double>(rest->nj) /
                       static_cast<double>(std::max<std::int64_t>(energy.nj, 1)),
                   reason));
}

}  // namespace

void add_doubts(const Capture& capture, std::uint32_t device, const EnergyEvaluator& model,
                const std::vector<bool>& counted, bool unresolved, DeviceEnergy& energy) {
  if (energy.counts_source == CountsSource::none) {
    warn(energy, "no_counts",
         "accesses and operations were not counted: everything except static power is in the rest. "
         "Record them: " +
             energy_record_command());
    return;
  }
  doubt_missing_counts(capture, model, counted, energy);
  doubt_coverage(unresolved, energy);
  doubt_tma(capture, device, model, counted, energy);
  doubt_negative_rest(energy);
}

void add_termless_doubt(const Leaves& leaves, DeviceEnergy& energy) {
  constexpr double kWorthSaying = 0.001;
  if (energy.counts_source == CountsSource::none || leaves.kernel_ns <= 0) return;
  std::string kinds;
  for (std::size_t kind = 0; kind < leaves.termless_ns.size(); ++kind) {
    const double share =
        static_cast<double>(leaves.termless_ns[kind]) / static_cast<double>(leaves.kernel_ns);
    if (share < kWorthSaying) continue;
    kinds += fmt::format("{}{} (kernels with {:.1f} % of kernel time)", kinds.empty() ? "" : ", ",
                         termless_work()[kind].what, 100 * share);
  }
  if (kinds.empty()) return;
  warn(energy, "no_term",
       fmt::format("the model has no term for {}: what they take is part of the rest, whose "
                   "interval is wider for it",
                   kinds));
}

void add_unrecorded_doubt(Nanos unrecorded, DeviceEnergy& energy) {
  double share = energy.span_ns > 0
                     ? static_cast<double>(unrecorded) / static_cast<double>(energy.span_ns)
                     : 0;
  if (share > 0.01)
    warn(energy, "kernels_not_recorded",
         fmt::format(
             "kernels were recorded in {:.1f} % of the span: what ran in the rest is counted under "
             "(idle) and the recorded kernels. Choose a --window inside one recording window",
             100 * (1 - share)));
}

namespace {

/// True if `gpufathom record` and NVIDIA's tools read this maker's sensors.
bool recorder_reads(const Capture& capture) {
  const Vendor vendor = vendor_of(capture);
  return vendor == Vendor::nvidia || vendor == Vendor::unknown;
}

}  // namespace

void add_sensor_doubts(const Capture& capture, Nanos period, const EnergyModelFile* file,
                       DeviceEnergy& energy) {
  const bool ours = recorder_reads(capture);
  constexpr double kGood = 10;  // updates of the sensor that a window should hold
  double updates =
      period > 0 ? static_cast<double>(energy.span_ns) / static_cast<double>(period) : 0;
  if (period > 0 && updates < kGood)
    warn(energy, "window_too_short",
         fmt::format("the span of {:.3g} s contains {:.1f} updates of the sensor ({:.0f} ms each): "
                     "its energy is known to about {:.0f} %. {}",
                     static_cast<double>(energy.span_ns) * 1e-9, updates,
                     static_cast<double>(period) * 1e-6,
                     std::min(100.0, 100 / std::max(updates, 1.0)),
                     period <= kNsPerSecond / 2 ? "Record a second or more, of the same steps"
                     : ours ? "Read the energy counter more often: record --metrics energy does "
                              "ten times a second"
                            : "Log power more often, or over a longer span"));
  if (energy.source == EnergySource::power_average)
    warn(energy, "average_power",
         fmt::format("the power is the driver's average over about a second: short changes are "
                     "smoothed out. Log instantaneous power{} or the energy counter",
                     ours ? " (field 186)" : ""));
  if (!file) return;
  const auto& model = file->model;
  if (!model.published.empty())
    warn(energy, "published_model",
         fmt::format("the model is made of published figures ({}), not of a calibration: its "
                     "intervals are as wide as such models have been found to be off",
                     model.published));
  if (energy.sm_mhz && model.sm_mhz_low > 0 &&
      (*energy.sm_mhz < 0.98 * model.sm_mhz_low || *energy.sm_mhz > 1.02 * model.sm_mhz_high))
    warn(energy, "clock_outside_model",
         fmt::format("the SM clock was {:.0f} MHz, and the model was measured at {:.0f} to {:.0f} "
                     "MHz: on-chip energy depends on the voltage",
                     *energy.sm_mhz, model.sm_mhz_low, model.sm_mhz_high));
  if (!model.gpu.empty() && !energy.name.empty() && model.gpu != energy.name)
    warn(energy, "other_gpu",
         fmt::format("the model was measured on {}, this is {}", model.gpu, energy.name));
  if (energy.name.empty() && !model.gpu.empty())
    warn(energy, "gpu_not_named",
         fmt::format("the capture does not name its GPU; the model is of {}", model.gpu));
}

std::string no_power_advice(const Capture& capture) {
  std::vector<std::int32_t> measured;
  for (std::uint32_t device = 0; device < capture.devices.size(); ++device)
    if (PowerCurve(capture, device).source() != EnergySource::none)
      measured.push_back(capture.devices.id[device]);
  if (!measured.empty())
    return fmt::format(
        "power was measured of GPU {}, which ran nothing of this capture. A program that was given "
        "some of the GPUs (CUDA_VISIBLE_DEVICES) counts them from 0: leave the column index out of "
        "a log of the one that it used",
        fmt::join(measured, ", "));
  if (!recorder_reads(capture)) return "power was not measured";
  return "power was not measured: record with `gpufathom record`, or log it during the run and "
         "pass --power: nvidia-smi --query-gpu=timestamp,index,power.draw.instant "
         "--format=csv,nounits -lms 100";
}

std::string no_model_advice(const std::string& gpu) {
  return fmt::format(
      "there is no energy model for {}: energy is split by time alone, and levels have no data. "
      "Measure one with `gpufathom calibrate --points points.jsonl -o model.json` and pass --model",
      text_or(gpu, "this GPU"));
}

namespace {

/// A log in local time lies whole hours beside the run, or where it is one of few zones other
/// minutes (India, Nepal, South Australia). One that is longer could be of several.
std::string zone_advice(Interval known, Interval window) {
  constexpr Nanos kMinute = 60 * kNsPerSecond;
  constexpr std::array kOtherZones{-570, -210, -150, 210, 270, 330, 345,
                                   390,  525,  570,  630, 765, 825};  // minutes
  const auto fits = [&](int ahead) {
    const Nanos shift = ahead * kMinute;
    return known.start - shift <= window.start && known.end - shift >= window.end;
  };
  int ahead = 0;
  for (int hours = -12; hours <= 14; ++hours)
    if (hours != 0 && known.length() < 60 * kMinute && fits(hours * 60)) ahead = hours * 60;
  for (const int minutes : kOtherZones)
    if (ahead == 0 && known.length() < 15 * kMinute && fits(minutes)) ahead = minutes;
  if (ahead == 0) return ". Log power over the whole run, on the same clock";
  const int hours = std::abs(ahead) / 60, minutes = std::abs(ahead) % 60;
  const auto of_hour = minutes > 0 ? fmt::format(" {} min", minutes) : std::string();
  return fmt::format(
      ". They would cover it if their clock were {} h{} {} UTC: if the log is in local time, "
      "pass --zone {}{:02}:{:02}",
      hours, of_hour, ahead > 0 ? "ahead of" : "behind", ahead > 0 ? '+' : '-', hours, minutes);
}

}  // namespace

std::string outside_readings(Interval known, Interval window) {
  auto seconds = [](Nanos ns) { return static_cast<double>(ns) / kNsPerSecond; };
  std::string where;
  if (known.end <= window.start) {
    where = fmt::format("end {:.3g} s before the span begins", seconds(window.start - known.end));
  } else if (known.start >= window.end) {
    where = fmt::format("begin {:.3g} s after the span ends", seconds(known.start - window.end));
  } else {
    where =
        fmt::format("cover {:.3g} of its {:.3g} s",
                    seconds(std::min(known.end, window.end) - std::max(known.start, window.start)),
                    seconds(window.length()));
  }
  return "the readings of power " + where + zone_advice(known, window);
}

}  // namespace gf
