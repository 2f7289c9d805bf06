// What the attribution of energy answers; part of the JSON contract like analyze/result.h. All
// `_nj` are whole nanojoules: the parts of a row sum to the row, and the rows of a list to their
// device, exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/describe.h"
#include "core/time.h"

namespace gf {

struct EnergyPart {
  std::string component;
  std::int64_t nj = 0, low_nj = 0, high_nj = 0;
  std::optional<double> share;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("component", &EnergyPart::component,
          "static, active, instructions, pipe.*, tensor.*, shared, l1, tma, l2, dram, or rest: "
          "what the model does not explain, negative where it explains more than was measured");
    visit("nj", &EnergyPart::nj, "energy in nanojoules");
    visit("low_nj", &EnergyPart::low_nj, "2.5 % bound of the model");
    visit("high_nj", &EnergyPart::high_nj, "97.5 % bound of the model");
    visit("share", &EnergyPart::share, "of the row's energy");
  }
};

/// The energy of a step, a layer type, a layer, a kernel, or of time without kernels.
struct EnergyRow {
  std::string name, type, phase;
  std::int64_t kernels = 0;
  Nanos ns = 0;
  std::int64_t nj = 0;
  std::optional<double> share;
  std::vector<EnergyPart> parts;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("name", &EnergyRow::name,
          "step, layer type, layer or kernel; (idle) and (copies) are time without kernels");
    visit("type", &EnergyRow::type, "layer type, of layers");
    visit("phase", &EnergyRow::phase, "forward, backward, optimizer or other, of layers");
    visit("kernels", &EnergyRow::kernels, "kernel instances");
    visit("ns", &EnergyRow::ns, "exclusive time");
    visit("nj", &EnergyRow::nj, "energy in nanojoules, the rest included");
    visit("share", &EnergyRow::share, "of the device's energy");
    visit("parts", &EnergyRow::parts, "the same energy by component; sums to nj");
  }
};

struct EnergyStepMean {
  std::int64_t count = 0;
  double joules = 0, seconds = 0, edp = 0;
  std::optional<double> joules_per_item;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("count", &EnergyStepMean::count, "steps in the window");
    visit("joules", &EnergyStepMean::joules, "mean energy of a step");
    visit("seconds", &EnergyStepMean::seconds, "mean duration of a step");
    visit("edp", &EnergyStepMean::edp, "energy-delay product of the mean step, joule seconds");
    visit("joules_per_item", &EnergyStepMean::joules_per_item,
          "energy of one item of the batch; null without --batch");
  }
};

struct EnergyWarning {
  std::string code, text;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("code", &EnergyWarning::code, "kind of doubt");
    visit("text", &EnergyWarning::text, "what it means, and what to do");
  }
};

struct EnergyReading {
  Nanos ns = 0;
  double watts = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("ns", &EnergyReading::ns, "after the start of the device's window");
    visit("watts", &EnergyReading::watts, "power from here on");
  }
};

struct DeviceEnergy {
  std::int64_t device = 0;
  std::string name;
  Nanos start_ns = 0, span_ns = 0;
  std::string source;         // of the energy: energy_counter, power_instant, power_average
  std::string counts_source;  // of the counts: samples, counter_report, none
  std::optional<double> coverage;
  std::int64_t nj = 0;
  double mean_watts = 0;
  std::optional<std::int64_t> predicted_low_nj, predicted_high_nj;
  std::optional<double> sm_mhz, sm_mhz_low, celsius;
  std::vector<EnergyPart> parts;
  std::optional<EnergyStepMean> step;
  std::vector<EnergyRow> steps, layer_types, layers, kernels;
  std::vector<EnergyReading> power;
  std::vector<EnergyWarning> warnings;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("device", &DeviceEnergy::device, "device number");
    visit("name", &DeviceEnergy::name, "product name");
    visit("start_ns", &DeviceEnergy::start_ns, "start of the span");
    visit("span_ns", &DeviceEnergy::span_ns, "length of the span");
    visit("source", &DeviceEnergy::source,
          "what measured the energy: energy_counter, power_instant or power_average");
    visit("counts_source", &DeviceEnergy::counts_source,
          "what counted accesses and operations: samples, counter_report or none");
    visit("coverage", &DeviceEnergy::coverage,
          "share of the window (samples) or of kernel time (report) that has counts");
    visit("nj", &DeviceEnergy::nj, "measured energy in nanojoules");
    visit("mean_watts", &DeviceEnergy::mean_watts, "measured energy over the span");
    visit("predicted_low_nj", &DeviceEnergy::predicted_low_nj,
          "2.5 % bound of the model's sum; null without model");
    visit("predicted_high_nj", &DeviceEnergy::predicted_high_nj, "97.5 % bound of the model's sum");
    visit("sm_mhz", &DeviceEnergy::sm_mhz, "mean SM clock");
    visit("sm_mhz_low", &DeviceEnergy::sm_mhz_low, "lowest SM clock");
    visit("celsius", &DeviceEnergy::celsius, "mean temperature");
    visit("parts", &DeviceEnergy::parts,
          "the energy by component; sums to nj; empty without a model");
    visit("step", &DeviceEnergy::step, "the mean step; null without steps");
    visit("steps", &DeviceEnergy::steps, "by step, and the time outside steps; sums to nj");
    visit("layer_types", &DeviceEnergy::layer_types,
          "by layer type, largest first; with (idle) and (copies) sums to nj");
    visit("layers", &DeviceEnergy::layers, "by layer; sums to nj");
    visit("kernels", &DeviceEnergy::kernels, "by kernel; sums to nj");
    visit("power", &DeviceEnergy::power, "power over the span");
    visit("warnings", &DeviceEnergy::warnings, "doubts, and what to do");
  }
};

struct EnergyUse {
  std::string model, model_gpu, model_date;
  std::optional<double> gain_error;
  std::string why_missing;
  std::vector<DeviceEnergy> devices;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("model", &EnergyUse::model, "file of the energy model, empty without one");
    visit("model_gpu", &EnergyUse::model_gpu, "product it was measured on");
    visit("model_date", &EnergyUse::model_date, "when");
    visit("gain_error", &EnergyUse::gain_error,
          "systematic error of board sensors, outside every interval");
    visit("why_missing", &EnergyUse::why_missing,
          "why energy has no data, or no levels, and what to do");
    visit("devices", &EnergyUse::devices, "by device");
  }
};

}  // namespace gf
