// The ids of findings, as names/findings.def declares them.
#pragma once

#include "analyze/names.h"

namespace gf {

enum class FindingId : std::uint8_t {
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain, shown_by, ...) id,
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain)
#include "analyze/names/findings_ids.def"
#undef GF_FINDING
#undef GF_FINDING_TOO
};

}  // namespace gf
