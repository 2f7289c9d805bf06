// The rows of findings, as names/findings.def declares them, without their texts.
#pragma once

#include <algorithm>
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
  bool of_kernels;  // its rule is about kernels alone, and needs no time between them
  FindingKind kind;
  FindingGroup group;
  Evidence shown_by;
  std::string_view mended_by = {};  // the change, as WhatIfRow names it; else that of its claim
  bool forbids_advice = false;      // a caveat with which no loss is told
  bool inconsistent = false;        // it says that the records contradict each other
  bool first = false;               // a caveat that a reader wants before all else
  bool needs_idle = false;          // it stands on when the device was idle, as all of the host do
  bool of_waiting = false;          // its gain is time in which the device computes nothing
  bool of_item = false;             // its gain is that of an item, not of a step
  bool counted = false;             // its gain is known by counters
  bool only_replayed = false;       // dropped where replay gives back next to nothing
  bool outweighs_little_work = false;  // told where little work alone would forbid it
  bool of_profiler = false;            // it says that a profiler made idle time longer
  bool limit_is_kernels = false;       // it says that kernels limit the program
};

const FindingRow& row_of(FindingId id);

/// The first finding whose row has this; nullptr where none has.
template <class Findings>
auto* find_with(Findings& findings, bool FindingRow::* has) {
  const auto found = std::ranges::find_if(
      findings, [&](const Finding& finding) { return row_of(finding.id).*has; });
  return found == findings.end() ? nullptr : &*found;
}

/// Findings that say a change to make; the others are to be known before that.
inline bool is_recommendation(FindingId id) {
  return row_of(id).kind == FindingKind::cause || row_of(id).kind == FindingKind::loss;
}

}  // namespace gf
