// A job of several ranks as text.
#pragma once

#include <cstddef>
#include <string>

#include "analyze/ranks/names.h"
#include "report/text/style.h"

namespace gf {

std::string ranks_text(const JobRanks& job, const TextStyle& style, std::size_t rows);

}  // namespace gf
