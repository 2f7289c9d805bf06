// Attributes the measured energy of a window by component, and by step, layer and kernel.
// docs/energy.md gives the rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/context.h"
#include "analyze/energy/model.h"
#include "analyze/energy/model_file.h"
#include "analyze/energy/split.h"
#include "analyze/result.h"
#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

/// The energy of every device of a context. Without a model, or without counts, there is the
/// measured energy and what to do. Empty devices when nothing measured power.
EnergyUse measure_energy(const Context& context, const EnergyModelFile* model);

/// The energy of a span of a capture that holds samples and no kernels: by component, not by step,
/// layer or kernel.
EnergyUse measure_energy(const Capture& capture, Interval span, const EnergyModelFile* model);

/// From the first to the last sample or reading of a capture without kernels; empty when there is
/// none.
std::optional<Interval> sampled_span(const Capture& capture);

// Caveats of an energy attribution, each with what to do about
// it.

/// Features without counters and where their energy lands, TMA, kernels that samples do not tell
/// apart, a negative rest. `counted` by column of the model; `unresolved`: samples and kernels
/// could not be laid over each other.
void add_doubts(const Capture& capture, std::uint32_t device, const EnergyEvaluator& model,
                const std::vector<bool>& counted, bool unresolved, DeviceEnergy& energy);

/// Kernels with work that the model has no term for, as the leaves show it.
void add_termless_doubt(const Leaves& leaves, DeviceEnergy& energy);

/// A window in part of which kernels were not recorded: `unrecorded` of its time.
void add_unrecorded_doubt(Nanos unrecorded, DeviceEnergy& energy);

/// A window that the sensor cannot resolve, clocks outside the model's, a model of another board's
/// kind.
void add_sensor_doubts(const Capture& capture, Nanos period, const EnergyModelFile* model,
                       DeviceEnergy& energy);

std::string no_power_advice(const Capture& capture);
std::string no_model_advice(const std::string& gpu);
/// The reason why readings do not cover a window, with both spans.
std::string outside_readings(Interval known, Interval window);

/// The commands that collect what the model needs.
std::string energy_ncu_command();
std::string energy_record_command();

}  // namespace gf
