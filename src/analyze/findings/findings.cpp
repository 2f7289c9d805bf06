#include "analyze/findings/findings.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "analyze/finding_ids.h"
#include "analyze/findings/evidence.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/finding_rows.h"
#include "analyze/findings/rules.h"
#include "analyze/workers.h"
#include "core/parallel.h"

namespace gf {
namespace {

template <class Facts>
struct Rule {
  FindingId id;
  std::optional<Said> (*find)(const Facts&);
};

// Each list takes the rules of its scope.
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain, shown_by, ...) \
  GF_RULE_OF_##scope(id)
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain) GF_RULE_OF_##scope(id)
#define GF_RULE_OF_trace(id) {FindingId::id, trace_rules::id},
#define GF_RULE_OF_kernel(id) GF_RULE_OF_trace(id)
#define GF_RULE_OF_sample(id)
#define GF_RULE_OF_own(id)
constexpr Rule<TraceFacts> kTraceRules[] = {
#include "analyze/names/findings_ids.def"
};
#undef GF_RULE_OF_trace
#undef GF_RULE_OF_sample
#define GF_RULE_OF_trace(id)
#define GF_RULE_OF_sample(id) {FindingId::id, sample_rules::id},
constexpr Rule<SampleFacts> kSampleRules[] = {
#include "analyze/names/findings_ids.def"
};
#undef GF_RULE_OF_trace
#undef GF_RULE_OF_kernel
#undef GF_RULE_OF_sample
#undef GF_RULE_OF_own
#undef GF_FINDING
#undef GF_FINDING_TOO

constexpr std::string_view kIds[] = {
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain, shown_by, ...) #id,
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain)
#include "analyze/names/findings_ids.def"
#undef GF_FINDING
#undef GF_FINDING_TOO
};

constexpr FindingRow kRows[] = {
#define GF_FINDING(scope, rank, id, about, label, fires_when, gain, evidence, ...) \
  {.of_kernels = std::string_view(#scope) == "kernel",                             \
   .kind = FindingKind::rank,                                                      \
   .group = FindingGroup::about,                                                   \
   .shown_by = Evidence::evidence __VA_OPT__(, ) __VA_ARGS__},
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain)
#include "analyze/names/findings_ids.def"
#undef GF_FINDING
#undef GF_FINDING_TOO
};

/// A finding by its rule, with the rest of its row in the list.
std::optional<Finding> told(FindingId id, std::optional<Said> said) {
  if (!said) return std::nullopt;
  Finding found{id, std::move(said->text), std::move(said->evidence), said->gain_ns,
                std::move(said->command)};
  found.group = row_of(id).group;
  found.kind = row_of(id).kind;
  found.queries = queries_of(id);
  return found;
}

/// Keeps a rule's claim for replay with its finding, and the longest of its events to be shown;
/// samples know nothing of either.
void keep_claim(std::optional<Finding>& found, const TraceFacts& facts,
                std::vector<FindingClaim>& claims) {
  ClaimedTime time = facts.take_claim();
  if (found && is_recommendation(found->id))
    found->moments = longest_moments(facts, facts.spoken(), time);
  facts.forget_spoken();
  if (!found) return;
  if (!time.empty()) claims.push_back({found->id, {}, std::move(time)});
}
void keep_claim(std::optional<Finding>&, const SampleFacts&, std::vector<FindingClaim>&) {}

/// Advice is not built on evidence that is known to be wrong, or on next to none.
bool forbids_advice(const Finding& caveat) { return row_of(caveat.id).forbids_advice; }

/// Replay orders what it can run again.
void sort_losses(std::span<Finding> losses) {
  std::ranges::stable_sort(losses, std::greater<>(), [](const Finding& loss) {
    return std::pair(loss.kind == FindingKind::cause, loss.gain_ns.value_or(0));
  });
}

/// What a rule says that does not ask what others claimed: it says so whenever it is asked.
struct Ahead {
  std::optional<Said> said;
  TraceFacts facts;  // with what it claimed
};

/// By rule, empty for one to be asked in turn. All are asked at once, each as if it came first; one
/// thread asks none ahead.
std::vector<std::optional<Ahead>> ask_ahead(const TraceFacts& facts) {
  std::vector<std::optional<Ahead>> ahead(std::size(kTraceRules));
  const unsigned workers = workers_for(facts.context, facts.capture().activities.size());
  if (workers < 2) return ahead;
  for_each_parallel(ahead.size(), workers, [&](std::size_t i) {
    TraceFacts own = facts.ahead();
    try {
      auto said = kTraceRules[i].find(own);
      ahead[i].emplace(std::move(said), std::move(own));
    } catch (const AsksOthers&) {
    }
  });
  return ahead;
}

/// `ask(i)` gives what rule i says.
template <class Facts, class Ask>
FoundInTrace apply(std::span<const Rule<Facts>> rules, const Facts& facts, Ask&& ask) {
  std::vector<FindingClaim> claims;
  std::vector<Finding> caveats, losses, notes;
  auto ask_all = [&](bool causes) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const auto& rule = rules[i];
      if ((row_of(rule.id).kind == FindingKind::cause) != causes) continue;
      auto found = told(rule.id, ask(i));
      keep_claim(found, facts, claims);
      if (!found) continue;
      if (found->gain_ns) found->share = facts.of_window(*found->gain_ns);
      // Where kernels hardly run, changing them gains nothing.
      const double worth_saying = causes || row_of(rule.id).counted ? 0.02 : 0.06;
      if (found->group == FindingGroup::kernels && found->gain_ns &&
          facts.of_window(*found->gain_ns) < worth_saying)
        continue;
      auto& like = found->kind == FindingKind::caveat ? caveats
                   : found->kind == FindingKind::note ? notes
                                                      : losses;
      like.push_back(std::move(*found));
    }
  };
  ask_all(true);  // causes take their time out of what the others tell
  ask_all(false);
  // A program that keeps compiling hardly works otherwise: compilation is what to change.
  if (find_with(losses, &FindingRow::outweighs_little_work))
    std::erase_if(caveats, [](const Finding& caveat) {
      return forbids_advice(caveat) && !row_of(caveat.id).inconsistent;
    });
  if (std::ranges::any_of(caveats, forbids_advice)) losses.clear();
  sort_losses(losses);
  const auto others = std::ranges::stable_partition(
      caveats, [](const Finding& caveat) { return row_of(caveat.id).first; });
  std::vector<Finding> all;
  std::move(caveats.begin(), others.begin(), std::back_inserter(all));
  std::ranges::move(losses, std::back_inserter(all));
  std::ranges::move(others, std::back_inserter(all));
  std::ranges::move(notes, std::back_inserter(all));
  return {std::move(all), std::move(claims)};
}

/// Advice that stands on when the device was idle.
bool needs_idle_time(const Finding& finding) {
  return finding.group == FindingGroup::host || row_of(finding.id).needs_idle;
}

}  // namespace

constinit const std::span<const std::string_view> EnumNames<FindingId>::names{kIds};

const FindingRow& row_of(FindingId id) { return kRows[static_cast<std::size_t>(id)]; }

FoundInTrace find_in_trace(const Context& context, const KernelLevels& levels,
                           const Analysis& analysis) {
  const TraceFacts facts(context, analysis, levels);
  if (facts.window <= 0) return {};
  auto ahead = ask_ahead(facts);
  auto found = apply<TraceFacts>(kTraceRules, facts, [&](std::size_t i) {
    if (!ahead[i]) return kTraceRules[i].find(facts);
    facts.take_over(ahead[i]->facts);
    return std::move(ahead[i]->said);
  });
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
  const SampleFacts facts(capture, analysis, settled);
  const auto ask = [&](std::size_t i) { return kSampleRules[i].find(facts); };
  return apply<SampleFacts>(kSampleRules, facts, ask).findings;
}

}  // namespace gf
