#include "analyze/findings/findings.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "analyze/findings/evidence.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/kinds.h"
#include "analyze/findings/rules.h"

namespace gf {
namespace {

template <class Facts>
struct Rule {
  FindingKind kind;
  std::optional<Finding> (*find)(const Facts&);
};

// Each list takes the rules of its scope.
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain, shown_by) \
  GF_RULE_OF_##scope(rank, id)
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain) GF_RULE_OF_##scope(rank, id)
#define GF_RULE_OF_trace(rank, id) {FindingKind::rank, trace_rules::id},
#define GF_RULE_OF_kernel(rank, id) GF_RULE_OF_trace(rank, id)
#define GF_RULE_OF_sample(rank, id)
#define GF_RULE_OF_own(rank, id)
constexpr Rule<TraceFacts> kTraceRules[] = {
    {FindingKind::caveat, trace_rules::flight_moment},
#include "analyze/names/findings_ids.def"
};
#undef GF_RULE_OF_trace
#undef GF_RULE_OF_sample
#define GF_RULE_OF_trace(rank, id)
#define GF_RULE_OF_sample(rank, id) {FindingKind::rank, sample_rules::id},
constexpr Rule<SampleFacts> kSampleRules[] = {
#include "analyze/names/findings_ids.def"
};
#undef GF_RULE_OF_trace
#undef GF_RULE_OF_kernel
#undef GF_RULE_OF_sample
#undef GF_RULE_OF_own
#undef GF_FINDING
#undef GF_FINDING_TOO

constexpr FindingGroup kGroups[] = {
// by FindingId
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain, shown_by) FindingGroup::group,
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain)
#include "analyze/names/findings_ids.def"
#undef GF_FINDING
#undef GF_FINDING_TOO
};

/// Keeps a rule's claim for replay with its finding, and the longest of its events to be shown;
/// samples know nothing of either.
void keep_claim(std::optional<Finding>& found, const TraceFacts& facts,
                std::vector<FindingClaim>& claims) {
  ClaimedTime time = facts.take_claim();
  if (found && is_recommendation(found->id))
    found->moments = longest_moments(facts, facts.spoken(), time);
  facts.forget_spoken();
  if (!found) return;
  if (!time.host.empty() || !time.activities.empty() || !time.changed.empty())
    claims.push_back({found->id, {}, std::move(time)});
}
void keep_claim(std::optional<Finding>&, const SampleFacts&, std::vector<FindingClaim>&) {}

/// Advice is not built on evidence that is known to be wrong, or on next to none.
bool forbids_advice(const Finding& caveat) {
  return caveat.id == FindingId::advice_withheld || caveat.id == FindingId::little_work;
}

/// Replay orders what it can run again.
void sort_losses(std::span<Finding> losses) {
  std::ranges::stable_sort(losses, std::greater<>(), [](const Finding& loss) {
    return std::pair(loss.kind == FindingKind::cause, loss.gain_ns.value_or(0));
  });
}

template <class Facts>
FoundInTrace apply(std::span<const Rule<Facts>> rules, const Facts& facts) {
  std::vector<FindingClaim> claims;
  std::vector<Finding> caveats, losses, notes;
  auto ask = [&](bool causes) {
    for (const auto& rule : rules) {
      if ((rule.kind == FindingKind::cause) != causes) continue;
      auto found = rule.find(facts);
      keep_claim(found, facts, claims);
      if (!found) continue;
      found->group = kGroups[static_cast<std::size_t>(found->id)];
      found->kind = rule.kind;
      found->queries = queries_of(found->id);
      if (found->gain_ns) found->share = facts.of_window(*found->gain_ns);
      // Where kernels hardly run, changing them gains nothing.
      const bool known = causes || found->id == FindingId::low_tensor_use;  // by counters
      const double worth_saying = known ? 0.02 : 0.06;
      if (found->group == FindingGroup::kernels && found->gain_ns &&
          facts.of_window(*found->gain_ns) < worth_saying)
        continue;
      auto& like = rule.kind == FindingKind::caveat ? caveats
                   : rule.kind == FindingKind::note ? notes
                                                    : losses;
      like.push_back(std::move(*found));
    }
  };
  ask(true);  // causes take their time out of what the others tell
  ask(false);
  // A program that keeps compiling hardly works otherwise: compilation is what to change.
  if (std::ranges::find(losses, FindingId::recompilation, &Finding::id) != losses.end())
    std::erase_if(caveats,
                  [](const Finding& caveat) { return caveat.id == FindingId::little_work; });
  if (std::ranges::any_of(caveats, forbids_advice)) losses.clear();
  sort_losses(losses);
  // A reader first wants the reason why the flight recorder kept the capture.
  const auto others = std::ranges::stable_partition(
      caveats, [](const Finding& caveat) { return caveat.id == FindingId::flight_moment; });
  std::vector<Finding> all;
  std::move(caveats.begin(), others.begin(), std::back_inserter(all));
  std::ranges::move(losses, std::back_inserter(all));
  std::ranges::move(others, std::back_inserter(all));
  std::ranges::move(notes, std::back_inserter(all));
  return {std::move(all), std::move(claims)};
}

/// Advice that stands on when the device was idle.
bool needs_idle_time(const Finding& finding) {
  using enum FindingId;
  return finding.group == FindingGroup::host || finding.id == observer_effect ||
         finding.id == tiny_kernels || finding.id == small_batch || finding.id == room_in_memory;
}

}  // namespace

FoundInTrace find_in_trace(const Context& context, const KernelLevels& levels,
                           const Analysis& analysis) {
  const TraceFacts facts(context, analysis, levels);
  if (facts.window <= 0) return {};
  auto found = apply<TraceFacts>(kTraceRules, facts);
  if (std::ranges::any_of(analysis.devices,
                          [](const DeviceUse& use) { return use.unrecorded_ns > 0; }))
    std::erase_if(found.findings, needs_idle_time);
  return found;
}

FoundInTrace with_own_rules(FoundInTrace found, std::vector<OwnFinding> own) {
  auto& all = found.findings;
  if (own.empty() || std::ranges::any_of(all, forbids_advice)) return found;
  const auto is_loss = [](const Finding& finding) { return is_recommendation(finding.id); };
  auto first = std::ranges::find_if(all, is_loss);
  if (first == all.end()) first = std::ranges::find(all, FindingKind::note, &Finding::kind);
  auto at = first - all.begin();
  for (auto& one : own) {
    found.claims.push_back({FindingId::own_rule, one.finding.rule, std::move(one.time)});
    all.insert(all.begin() + at, std::move(one.finding));
  }
  const auto losses = all.begin() + at;
  sort_losses({losses, std::find_if_not(losses, all.end(), is_loss)});
  return found;
}

std::vector<Finding> find_in_samples(const Capture& capture, const Analysis& analysis,
                                     Interval settled) {
  return apply<SampleFacts>(kSampleRules, SampleFacts(capture, analysis, settled)).findings;
}

}  // namespace gf
