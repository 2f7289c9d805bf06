// Where the joules of a window went: measured energy by component, and by step, layer and kernel.
// docs/energy.md gives the rules.
#pragma once

#include <optional>

#include "analyze/context.h"
#include "analyze/energy/model_file.h"
#include "analyze/result.h"

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

}  // namespace gf
