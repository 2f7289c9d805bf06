// Rules of a team's own: rows of a file, each a condition of SQL on the captured work.
// docs/own-rules.md is their page.
#pragma once

#include <string>

#include "analyze/context.h"
#include "core/error.h"

namespace gf {

/// The rules of a file, ready to be asked. Errors: no such file, no JSON, a row without an id or a
/// condition, an id that is taken. What is wrong with a condition is said once it is asked.
Result<OwnRules> read_own_rules(const std::string& path);

}  // namespace gf
