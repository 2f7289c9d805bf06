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
  static constexpr auto fields() {
    using P = EnergyPart;
    return std::tuple{
        field("component", &P::component,
              "static, active, instructions, pipe.*, tensor.*, shared, l1, tma, l2, dram, or rest: "
              "what the model does not explain, negative where it explains more than was measured"),
        field("nj", &P::nj, "energy in nanojoules"),
        field("low_nj", &P::low_nj, "2.5 % bound of the model"),
        field("high_nj", &P::high_nj, "97.5 % bound of the model"),
        field("share", &P::share, "of the row's energy")};
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
  static constexpr auto fields() {
    using R = EnergyRow;
    return std::tuple{
        field("name", &R::name,
              "step, layer type, layer or kernel; (idle) and (copies) are time without kernels"),
        field("type", &R::type, "layer type, of layers"),
        field("phase", &R::phase, "forward, backward, optimizer or other, of layers"),
        field("kernels", &R::kernels, "kernel instances"),
        field("ns", &R::ns, "exclusive time"),
        field("nj", &R::nj, "energy in nanojoules, the rest included"),
        field("share", &R::share, "of the device's energy"),
        field("parts", &R::parts, "the same energy by component; sums to nj")};
  }
};

struct EnergyStepMean {
  std::int64_t count = 0;
  double joules = 0, seconds = 0, edp = 0;
  std::optional<double> joules_per_item;
  static constexpr auto fields() {
    using S = EnergyStepMean;
    return std::tuple{field("count", &S::count, "steps in the window"),
                      field("joules", &S::joules, "mean energy of a step"),
                      field("seconds", &S::seconds, "mean duration of a step"),
                      field("edp", &S::edp, "energy-delay product of the mean step, joule seconds"),
                      field("joules_per_item", &S::joules_per_item,
                            "energy of one item of the batch; null without --batch")};
  }
};

struct EnergyWarning {
  std::string code, text;
  static constexpr auto fields() {
    using W = EnergyWarning;
    return std::tuple{field("code", &W::code, "kind of doubt"),
                      field("text", &W::text, "what it means, and what to do")};
  }
};

struct EnergyReading {
  Nanos ns = 0;
  double watts = 0;
  static constexpr auto fields() {
    using R = EnergyReading;
    return std::tuple{field("ns", &R::ns, "after the start of the device's window"),
                      field("watts", &R::watts, "power from here on")};
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
  static constexpr auto fields() {
    using D = DeviceEnergy;
    return std::tuple{
        field("device", &D::device, "device number"),
        field("name", &D::name, "product name"),
        field("start_ns", &D::start_ns, "start of the span"),
        field("span_ns", &D::span_ns, "length of the span"),
        field("source", &D::source,
              "what measured the energy: energy_counter, power_instant or power_average"),
        field("counts_source", &D::counts_source,
              "what counted accesses and operations: samples, counter_report or none"),
        field("coverage", &D::coverage,
              "share of the window (samples) or of kernel time (report) that has counts"),
        field("nj", &D::nj, "measured energy in nanojoules"),
        field("mean_watts", &D::mean_watts, "measured energy over the span"),
        field("predicted_low_nj", &D::predicted_low_nj,
              "2.5 % bound of the model's sum; null without model"),
        field("predicted_high_nj", &D::predicted_high_nj, "97.5 % bound of the model's sum"),
        field("sm_mhz", &D::sm_mhz, "mean SM clock"),
        field("sm_mhz_low", &D::sm_mhz_low, "lowest SM clock"),
        field("celsius", &D::celsius, "mean temperature"),
        field("parts", &D::parts, "the energy by component; sums to nj; empty without a model"),
        field("step", &D::step, "the mean step; null without steps"),
        field("steps", &D::steps, "by step, and the time outside steps; sums to nj"),
        field("layer_types", &D::layer_types,
              "by layer type, largest first; with (idle) and (copies) sums to nj"),
        field("layers", &D::layers, "by layer; sums to nj"),
        field("kernels", &D::kernels, "by kernel; sums to nj"),
        field("power", &D::power, "power over the span"),
        field("warnings", &D::warnings, "doubts, and what to do")};
  }
};

struct EnergyUse {
  std::string model, model_gpu, model_date;
  std::optional<double> gain_error;
  std::string why_missing;
  std::vector<DeviceEnergy> devices;
  static constexpr auto fields() {
    using E = EnergyUse;
    return std::tuple{field("model", &E::model, "file of the energy model, empty without one"),
                      field("model_gpu", &E::model_gpu, "product it was measured on"),
                      field("model_date", &E::model_date, "when"),
                      field("gain_error", &E::gain_error,
                            "systematic error of board sensors, outside every interval"),
                      field("why_missing", &E::why_missing,
                            "why energy has no data, or no levels, and what to do"),
                      field("devices", &E::devices, "by device")};
  }
};

}  // namespace gf
