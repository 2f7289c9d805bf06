// The kinds of findings, as names/findings.def declares them.
#pragma once

#include <cstddef>

#include "analyze/names.h"

namespace gf {

constexpr FindingKind kind_of(FindingId id) {
  constexpr FindingKind kKinds[] = {
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain, shown_by) FindingKind::rank,
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain)
#include "analyze/names/findings_ids.def"
#undef GF_FINDING
#undef GF_FINDING_TOO
  };
  return kKinds[static_cast<std::size_t>(id)];
}

/// Findings that say a change to make; the others are to be known before that.
constexpr bool is_recommendation(FindingId id) {
  return kind_of(id) == FindingKind::cause || kind_of(id) == FindingKind::loss;
}

}  // namespace gf
