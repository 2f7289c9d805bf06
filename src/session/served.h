// What an answer of `analyze` says of a serving engine, for who lets another process analyze.
#pragma once

#include <optional>
#include <string>

#include "analyze/result.h"

namespace gf {

/// The section `serving` of an answer in JSON; empty where it has none, or is no answer.
std::optional<Serving> read_serving(const std::string& path);

}  // namespace gf
