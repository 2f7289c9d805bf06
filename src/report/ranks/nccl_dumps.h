// The flight recorders of a job as text.
#pragma once

#include <cstddef>
#include <string>

#include "analyze/ranks/nccl_dumps.h"
#include "report/text/format.h"

namespace gf {

std::string dumps_text(const NcclDumps& answer, const TextStyle& style, std::size_t rows);

}  // namespace gf
