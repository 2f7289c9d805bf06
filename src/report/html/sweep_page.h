// The page of many runs over their settings.
#pragma once

#include <string>

#include "analyze/sweep/sweep.h"
#include "core/error.h"

namespace gf {

/// One file that works offline. Error: a build without the page.
Result<std::string> sweep_html(const Sweep& sweep);

}  // namespace gf
