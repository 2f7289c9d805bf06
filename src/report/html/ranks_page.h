// The page of a job of several ranks.
#pragma once

#include <string>

#include "analyze/ranks/ranks.h"
#include "core/error.h"

namespace gf {

/// One file that works offline. Error: a build without the page.
Result<std::string> ranks_html(const JobRanks& job);

}  // namespace gf
