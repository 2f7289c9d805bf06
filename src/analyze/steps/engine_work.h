// Work of a serving engine's steps, learned from their kernels, grids and copies of
// tokens. docs/serving.md gives the rules.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/steps/engine.h"
#include "analyze/steps/steps.h"
#include "model/capture.h"

namespace gf {

struct LearnedWork {
  std::vector<EngineWork> work;  // by pass
  Share confidence;              // share of the known kinds that the tokens fit; empty: none known
};
LearnedWork learn_engine_work(const Capture& capture, const std::vector<std::uint32_t>& launch,
                              const Names& names, const TokenChoices& choices,
                              const std::vector<EnginePass>& passes);

/// Says which steps of marks are those of CUDA graphs.
void find_graphs(const Capture& capture, const std::vector<std::uint32_t>& launch, Steps& steps);

/// Takes back the tokens of prompts that may be parts of longer ones.
void keep_known_tokens(Steps& steps);

/// Fills in what the marks of `steps.work` do not say.
void add_learned_work(const Capture& capture, const std::vector<std::uint32_t>& launch,
                      const Names& names, const TokenChoices& choices, Steps& steps);

}  // namespace gf
