#include "analyze/findings/replayed_gains.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "analyze/replay/what_if.h"

namespace gf {

namespace {

constexpr std::size_t kMostActivities = 50'000;
constexpr double kMostUnexplained = 0.1;

/// What mends a finding, as WhatIfRow::change names it.
struct Mending {
  FindingId finding;
  std::string_view change;
};
constexpr Mending kMendings[] = {
    {FindingId::launch_bound, "graph"},
    {FindingId::sync_in_step, name_of(Without::sync)},
    {FindingId::input_bound, name_of(Without::input)},
    {FindingId::blocking_copies, name_of(Without::copies)},
    {FindingId::device_allocations, name_of(Without::allocations)},
    {FindingId::recompilation, name_of(Without::compiling)},
    {FindingId::exposed_communication, name_of(Without::communication)},
};

/// Empty where no change does.
std::string_view change_of(FindingId id) {
  const auto known = std::ranges::find(kMendings, id, &Mending::finding);
  return known == std::end(kMendings) ? std::string_view() : known->change;
}

WhatIfChanges changes_of(const std::vector<Finding>& findings) {
  WhatIfChanges changes;
  for (const auto& finding : findings) {
    const auto change = change_of(finding.id);
    if (const auto without = enum_from<Without>(change)) changes.without.push_back(*without);
    changes.graph = changes.graph || change == "graph";
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
