// The rows of findings, as names/findings.def declares them, without their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyze/names.h"
#include "analyze/replay/what_if.h"

namespace gf {

enum class Evidence : std::uint8_t {
#define GF_EVIDENCE(id, first, second) id,
#include "analyze/names/evidence.def"
#undef GF_EVIDENCE
};

struct FindingRow {
  FindingKind kind;
  FindingGroup group;
  Evidence shown_by;
  std::string_view mended_by = {};  // the change, as WhatIfRow names it; else that of its claim
  bool forbids_advice = false;      // a caveat with which no loss is told
  bool first = false;               // a caveat that a reader wants before all else
  bool needs_idle = false;          // it stands on when the device was idle, as all of the host do
  bool of_waiting = false;          // its gain is time in which the device computes nothing
  bool of_item = false;             // its gain is that of an item, not of a step
  bool counted = false;             // its gain is known by counters
  bool only_replayed = false;       // dropped where replay gives back next to nothing
};

inline constexpr FindingRow kFindingRows[] = {
// by FindingId
#define GF_FINDING(scope, rank, id, about, label, fires_when, gain, evidence, ...) \
  {.kind = FindingKind::rank,                                                      \
   .group = FindingGroup::about,                                                   \
   .shown_by = Evidence::evidence __VA_OPT__(, ) __VA_ARGS__},
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain)
#include "analyze/names/findings_ids.def"
#undef GF_FINDING
#undef GF_FINDING_TOO
};
constexpr const FindingRow& row_of(FindingId id) {
  return kFindingRows[static_cast<std::size_t>(id)];
}

/// Findings that say a change to make; the others are to be known before that.
constexpr bool is_recommendation(FindingId id) {
  return row_of(id).kind == FindingKind::cause || row_of(id).kind == FindingKind::loss;
}

}  // namespace gf
