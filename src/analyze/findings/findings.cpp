#include "analyze/findings/findings.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <span>
#include <utility>

#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "analyze/findings/sample_facts.h"

namespace gf {
namespace {

enum class Rank { caveat, cause, loss, note };

template <class Facts>
struct Rule {
  Rank rank;
  std::optional<Finding> (*find)(const Facts&);
};

// Each list takes the rules of its scope.
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain) GF_RULE_OF_##scope(rank, id)
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain) GF_RULE_OF_##scope(rank, id)
#define GF_RULE_OF_trace(rank, id) {Rank::rank, trace_rules::id},
#define GF_RULE_OF_kernel(rank, id) GF_RULE_OF_trace(rank, id)
#define GF_RULE_OF_sample(rank, id)
constexpr Rule<TraceFacts> kTraceRules[] = {
    {Rank::caveat, trace_rules::flight_moment},
#include "analyze/names/findings.def"
};
#undef GF_RULE_OF_trace
#undef GF_RULE_OF_sample
#define GF_RULE_OF_trace(rank, id)
#define GF_RULE_OF_sample(rank, id) {Rank::rank, sample_rules::id},
constexpr Rule<SampleFacts> kSampleRules[] = {
#include "analyze/names/findings.def"
};
#undef GF_RULE_OF_trace
#undef GF_RULE_OF_kernel
#undef GF_RULE_OF_sample
#undef GF_FINDING
#undef GF_FINDING_TOO

/// By FindingId.
constexpr FindingGroup kGroups[] = {
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain) FindingGroup::group,
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain)
#include "analyze/names/findings.def"
#undef GF_FINDING
#undef GF_FINDING_TOO
};

/// A named cause stands before a loss of a general kind of up to so many times its gain.
constexpr Nanos kCauseBefore = 4;

/// What a finding weighs beside others: its gain. Of launches that come late, what the profiler did
/// not cause is told first of all.
Nanos weight_of(const Finding& finding, const TraceFacts& facts) {
  const Nanos gain = finding.gain_ns.value_or(0);
  using enum FindingId;
  if (finding.id != launch_bound && finding.id != small_batch) return gain;
  const Nanos late = std::min(gain, facts.late()) - profiler_cost(facts.analysis);
  return std::max<Nanos>(0, late) + (finding.id == small_batch);  // which says why, too
}
Nanos weight_of(const Finding& finding, const SampleFacts&) { return finding.gain_ns.value_or(0); }

template <class Facts>
std::vector<Finding> apply(std::span<const Rule<Facts>> rules, const Facts& facts) {
  std::vector<Finding> caveats, notes;
  std::vector<std::pair<Nanos, Finding>> losses;  // with their weight
  auto ask = [&](bool causes) {
    for (const auto& rule : rules) {
      if ((rule.rank == Rank::cause) != causes) continue;
      auto found = rule.find(facts);
      if (!found) continue;
      found->group = kGroups[static_cast<std::size_t>(found->id)];
      const Nanos weight = weight_of(*found, facts);
      switch (rule.rank) {
        case Rank::caveat:
          caveats.push_back(std::move(*found));
          break;
        case Rank::cause:
          losses.emplace_back(kCauseBefore * weight, std::move(*found));
          break;
        case Rank::loss:
          losses.emplace_back(weight, std::move(*found));
          break;
        case Rank::note:
          notes.push_back(std::move(*found));
          break;
      }
    }
  };
  ask(true);  // causes take their time out of what the others tell
  ask(false);
  // Advice is not built on evidence that is known to be wrong.
  if (std::ranges::any_of(
          caveats, [](const Finding& caveat) { return caveat.id == FindingId::advice_withheld; }))
    losses.clear();
  std::ranges::stable_sort(losses, std::greater<>(), [](const auto& loss) { return loss.first; });
  std::vector<Finding> all;
  for (auto& [weight, loss] : losses) all.push_back(std::move(loss));
  std::ranges::move(caveats, std::back_inserter(all));
  std::ranges::move(notes, std::back_inserter(all));
  return all;
}

/// Advice that stands on when the device was idle.
bool needs_idle_time(const Finding& finding) {
  using enum FindingId;
  return finding.group == FindingGroup::host || finding.id == observer_effect ||
         finding.id == tiny_kernels || finding.id == small_batch || finding.id == room_in_memory;
}

}  // namespace

std::vector<Finding> find_in_trace(const Context& context, const KernelLevels& levels,
                                   const Analysis& analysis) {
  const TraceFacts facts(context, analysis, levels);
  if (facts.window <= 0) return {};
  auto findings = apply<TraceFacts>(kTraceRules, facts);
  if (std::ranges::any_of(analysis.devices,
                          [](const DeviceUse& use) { return use.unrecorded_ns > 0; }))
    std::erase_if(findings, needs_idle_time);
  return findings;
}

std::vector<Finding> find_in_samples(const Capture& capture, const Analysis& analysis,
                                     Interval settled) {
  return apply<SampleFacts>(kSampleRules, SampleFacts(capture, analysis, settled));
}

}  // namespace gf
