// The steps of a serving engine, as the rules ask for them.
#pragma once

#include <utility>
#include <vector>

#include "analyze/findings/facts.h"
#include "core/statistics.h"

namespace gf {

using EngineSteps = std::vector<const EngineStep*>;

inline bool gives_tokens(const EngineStep& step) {
  return step.kind == StepKind::decode || step.kind == StepKind::mixed ||
         step.kind == StepKind::speculative;
}

/// The engine's steps in the window for which `wanted` is true, by start.
template <class Wanted>
EngineSteps steps_that(const TraceFacts& facts, Wanted&& wanted) {
  EngineSteps steps;
  if (facts.analysis.serving)
    for (const auto& step : facts.analysis.serving->steps)
      if (wanted(step)) steps.push_back(&step);
  return steps;
}

inline Nanos time_of(const EngineSteps& steps) {
  Nanos time = 0;
  for (const auto* step : steps) time += step->duration_ns;
  return time;
}

/// The median length of steps, of which there is one at least.
inline Nanos middle_of(const EngineSteps& steps) {
  std::vector<double> times;
  for (const auto* step : steps) times.push_back(static_cast<double>(step->duration_ns));
  return static_cast<Nanos>(median(std::move(times)));
}

/// Time of steps, each of which runs on all devices, as the window sums them.
inline Nanos on_devices(const TraceFacts& facts, Nanos of_steps) {
  return of_steps * static_cast<Nanos>(facts.context.devices.size());
}

}  // namespace gf
