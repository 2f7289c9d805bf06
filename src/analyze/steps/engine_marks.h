// The marks that serving engines set around their steps. docs/serving.md lists them.
#pragma once

#include <optional>
#include <string_view>

#include "analyze/steps/steps.h"

namespace gf {

/// Parses a mark of a serving engine; empty for any other name.
std::optional<StepName> parse_engine_mark(std::string_view name);

}  // namespace gf
