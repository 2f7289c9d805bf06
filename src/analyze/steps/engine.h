// Steps of a serving engine without marks: kernels that choose tokens, and the tokens' copies to
// the host. docs/serving.md gives the rules.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/steps/outer_loop.h"
#include "analyze/steps/steps.h"
#include "analyze/vocabulary.h"
#include "model/capture.h"

namespace gf {

/// The choices of tokens of a program that trains nothing.
struct TokenChoices {
  KernelOrder sequence;                  // empty where no token is chosen
  std::vector<std::uint32_t> positions;  // of the first kernel of each choice
};
TokenChoices find_token_choices(const Capture& capture, const Names& names);

/// The work up to the copy of the tokens behind the last choice.
struct EnginePass {
  std::uint32_t begin = 0, end = 0;  // positions of the sequence
  std::size_t choices = 0;
  std::uint32_t copy = kNoRow;  // row of activities: the tokens' way to the host
};
std::vector<EnginePass> engine_passes(const Capture& capture, const TokenChoices& choices);

/// Steps that end when the tokens of their choices are on the host, with what each computes. None
/// where the host does not fetch tokens regularly.
Steps find_engine_steps(const Capture& capture, const std::vector<std::uint32_t>& launch,
                        const Names& names, const TokenChoices& choices);

/// True if the steps of a period are not steps: they hold under half of the choices of tokens, or
/// one of them is ten times as long as another or holds ten times as many choices.
bool contradicts_choices(const Capture& capture, const TokenChoices& choices,
                         const std::vector<StepInfo>& steps);

}  // namespace gf
