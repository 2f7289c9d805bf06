// web/src/model.ts: the answer of analyze as types, for the page.
#pragma once

#include <string>

namespace gf {

/// Types of every result struct and of the closed lists in them, and the colours of causes, bars
/// and phases; all from their declarations (analyze/results/*.def, analyze/names/*.def).
std::string typescript_model();

}  // namespace gf
