#include "analyze/findings/replayed_gains.h"

#include <algorithm>
#include <string>

#include "analyze/replay/what_if.h"

namespace gf {

namespace {

constexpr std::size_t kMostActivities = 50'000;
constexpr double kMostUnexplained = 0.1;

/// As WhatIfRow::change names what mends a finding; empty where no change does.
std::string_view change_of(FindingId id) {
  switch (id) {
    case FindingId::launch_bound:
      return "graph";
    case FindingId::sync_in_step:
      return name_of(Without::sync);
    case FindingId::input_bound:
      return name_of(Without::input);
    case FindingId::blocking_copies:
      return name_of(Without::copies);
    case FindingId::device_allocations:
      return name_of(Without::allocations);
    case FindingId::recompilation:
      return name_of(Without::compiling);
    case FindingId::exposed_communication:
      return name_of(Without::communication);
    default:
      return {};
  }
}

WhatIfChanges changes_of(const std::vector<Finding>& findings) {
  WhatIfChanges changes;
  for (const auto& finding : findings) {
    const auto change = change_of(finding.id);
    if (change == "graph")
      changes.graph = true;
    else if (!change.empty())
      changes.without.push_back(*enum_from<Without>(change));
  }
  return changes;
}

}  // namespace

std::vector<Finding> with_replayed_gains(std::vector<Finding> findings, const Context& context) {
  const WhatIfChanges changes = changes_of(findings);
  if (changes.empty() || context.capture.activities.size() > kMostActivities) return findings;
  const auto answer = what_if(context, changes);
  if (!answer || answer->unexplained.value_or(1) > kMostUnexplained) return findings;
  for (auto& finding : findings) {
    const auto row = std::ranges::find(answer->changes, change_of(finding.id), &WhatIfRow::change);
    if (row == answer->changes.end()) continue;
    finding.replayed = row->share;
    finding.replayed_low = row->share_low;
    finding.replayed_high = row->share_high;
  }
  return findings;
}

}  // namespace gf
