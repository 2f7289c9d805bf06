#include "analyze/findings/findings.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "analyze/replay/what_if.h"

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
  // That the matrix is the same nobody knows: what is known is told first.
  if (finding.id == repeated_factorization) return 0;
  if (finding.id != launch_bound && finding.id != small_batch) return gain;
  const Nanos late =
      std::max<Nanos>(0, std::min(gain, facts.late()) - profiler_cost(facts.analysis));
  // A larger batch is the cure where it is known to be small; else there are many launches.
  constexpr std::int64_t kFewItems = 16;
  const auto& items = facts.analysis.work.throughput.items;
  const bool small = items && *items <= kFewItems;
  return late + (finding.id == (small ? small_batch : launch_bound));
}
Nanos weight_of(const Finding& finding, const SampleFacts&) { return finding.gain_ns.value_or(0); }

/// What a rule claimed is replayed with its finding; samples know nothing to claim.
void keep_claim(const std::optional<Finding>& found, const TraceFacts& facts,
                std::vector<FindingClaim>& claims) {
  ClaimedTime time = facts.take_claim();
  if (found && (!time.host.empty() || !time.activities.empty() || !time.changed.empty()))
    claims.push_back({found->id, std::move(time)});
}
void keep_claim(const std::optional<Finding>&, const SampleFacts&, std::vector<FindingClaim>&) {}

using Weighed = std::vector<std::pair<Nanos, Finding>>;

/// Copies are in every program: of what passes over memory they stand behind what does so for twice
/// their time. A host that waits again and again cannot run ahead, nor be put into a graph: that is
/// told before launches that come late, however much these are.
void settle_order(Weighed& losses, Nanos window) {
  const auto of = [&](FindingId id) {
    return std::ranges::find(losses, id, [](const auto& loss) { return loss.second.id; });
  };
  const auto waits = of(FindingId::sync_in_step);
  if (waits != losses.end() && waits->second.gain_ns.value_or(0) * 20 >= window)
    for (const auto late : {of(FindingId::launch_bound), of(FindingId::small_batch)})
      if (late != losses.end()) waits->first = std::max(waits->first, late->first + 1);
  const auto copies = of(FindingId::casts), passes = of(FindingId::unfused_elementwise);
  if (copies != losses.end() && passes != losses.end() &&
      passes->second.gain_ns >= 2 * copies->second.gain_ns.value_or(0))
    copies->first = std::min(copies->first, passes->first - 1);
}

template <class Facts>
FoundInTrace apply(std::span<const Rule<Facts>> rules, const Facts& facts) {
  std::vector<FindingClaim> claims;
  std::vector<Finding> caveats, notes;
  Weighed losses;
  auto ask = [&](bool causes) {
    for (const auto& rule : rules) {
      if ((rule.rank == Rank::cause) != causes) continue;
      auto found = rule.find(facts);
      keep_claim(found, facts, claims);
      if (!found) continue;
      found->group = kGroups[static_cast<std::size_t>(found->id)];
      // Where kernels hardly run, they are not what to change.
      const bool known = causes || found->id == FindingId::low_tensor_use;  // by counters
      const double worth_saying = known ? 0.02 : 0.06;
      if (found->group == FindingGroup::kernels && found->gain_ns &&
          facts.of_window(*found->gain_ns) < worth_saying)
        continue;
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
  // What compiles again and again hardly works, and that is what to change.
  if (std::ranges::any_of(
          losses, [](const auto& loss) { return loss.second.id == FindingId::recompilation; }))
    std::erase_if(caveats,
                  [](const Finding& caveat) { return caveat.id == FindingId::little_work; });
  // Advice is not built on evidence that is known to be wrong, or on next to none.
  if (std::ranges::any_of(caveats, [](const Finding& caveat) {
        return caveat.id == FindingId::advice_withheld || caveat.id == FindingId::little_work;
      }))
    losses.clear();
  settle_order(losses, facts.window);
  std::ranges::stable_sort(losses, std::greater<>(), [](const auto& loss) { return loss.first; });
  // Why a flight recorder kept the capture is what its reader wants first.
  const auto others = std::ranges::stable_partition(
      caveats, [](const Finding& caveat) { return caveat.id == FindingId::flight_moment; });
  std::vector<Finding> all;
  std::move(caveats.begin(), others.begin(), std::back_inserter(all));
  for (auto& [weight, loss] : losses) all.push_back(std::move(loss));
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

std::vector<Finding> find_in_samples(const Capture& capture, const Analysis& analysis,
                                     Interval settled) {
  return apply<SampleFacts>(kSampleRules, SampleFacts(capture, analysis, settled)).findings;
}

namespace {

// Activities of a capture that runs again as a whole, of the part of a longer one, and of three
// steps of such a one at most.
constexpr std::size_t kMostActivities = 50'000, kOfLongCaptures = 10'000, kMostOfSteps = 200'000;
constexpr double kMostUnexplained = 0.1, kNearlyAll = 0.5;

/// What mends a finding that is not mended by what it claims, as WhatIfRow::change names it.
struct MendedBy {
  FindingId finding;
  std::string_view change;
};
// Those of one group whose changes overlap are together what the longest of them gives: replay
// says so by itself.
constexpr MendedBy kMendings[] = {
    {FindingId::launch_bound, "graph"},
    {FindingId::sync_in_step, name_of(Without::sync)},
    {FindingId::input_bound, name_of(Without::input)},
    {FindingId::blocking_copies, name_of(Without::copies)},
    {FindingId::device_allocations, name_of(Without::allocations)},
    {FindingId::recompilation, name_of(Without::compiling)},
    {FindingId::exposed_communication, name_of(Without::communication)},
    {FindingId::host_bound, name_of(Without::pauses)},
    {FindingId::tiny_kernels, "graph"},
    {FindingId::unfused_optimiser, name_of(With::fused_optimizer)},
    {FindingId::eager_attention, name_of(With::fused_attention)},
    {FindingId::unfused_elementwise, name_of(With::fused_elementwise)},
    {FindingId::odd_sizes, name_of(With::padded_sizes)},
    {FindingId::fp32_without_tensor_cores, name_of(With::tensor_cores)},
    {FindingId::no_channels_last, name_of(With::channels_last)},
    {FindingId::small_batch, WhatIfChanges::kLargerBatch},
};
/// How many times as large a batch runs again: so much that launches hardly matter, where the GPU
/// is as empty as this recommendation says.
constexpr double kLargerBatch = 8;

/// Empty where no change does.
std::string_view change_of(FindingId id) {
  const auto known = std::ranges::find(kMendings, id, &MendedBy::finding);
  return known == std::end(kMendings) ? std::string_view() : known->change;
}

WhatIfChanges changes_of(const std::vector<Finding>& findings,
                         const std::vector<FindingClaim>& claims) {
  WhatIfChanges changes;
  for (const auto& finding : findings) {
    const auto change = change_of(finding.id);
    const auto claim = std::ranges::find(claims, finding.id, &FindingClaim::finding);
    if (change.empty() && claim != claims.end()) changes.claims.push_back(*claim);
    if (const auto without = enum_from<Without>(change)) changes.without.push_back(*without);
    if (const auto with = enum_from<With>(change)) changes.with.push_back(*with);
    changes.graph = changes.graph || change == "graph";
    if (change == WhatIfChanges::kLargerBatch) changes.larger_batch = kLargerBatch;
  }
  return changes;
}

/// What of a capture runs again: all of it, or of a long one some steps in the middle; without
/// steps as much of its middle. Empty where so few steps have more activities than that.
std::optional<Interval> part_to_replay(const Context& context) {
  constexpr std::size_t kFewest = 3;
  const std::size_t activities = context.capture.activities.size();
  if (activities <= kMostActivities) return kAllTime;
  const auto& steps = context.window.all_steps;
  if (steps.empty()) {
    const double share = static_cast<double>(kOfLongCaptures) / static_cast<double>(activities);
    const auto half =
        static_cast<Nanos>(share * static_cast<double>(context.window.duration_ns) / 2);
    const Nanos middle = context.window.start_ns + context.window.duration_ns / 2;
    return Interval{middle - half, middle + half};
  }
  const std::size_t of_step = activities / steps.size();
  const std::size_t count = std::max(kFewest, kOfLongCaptures / std::max<std::size_t>(of_step, 1));
  if (std::min(count, steps.size()) * of_step > kMostOfSteps) return std::nullopt;
  if (count >= steps.size()) return kAllTime;
  const std::size_t first = (steps.size() - count) / 2;
  return Interval{steps[first].start_ns, steps[first + count].start_ns};
}

/// Of losses whose mendings do not follow from each other, one that gives three times what the
/// first gives is told before it; of a first that cannot be replayed half its upper bound is
/// assumed. Graphs, larger batches and pauses of the host give much in replay
/// where a wait or a copy told before them is why there are late launches: they keep their place.
void put_by_replay(std::vector<Finding>& findings, bool jax, Nanos window) {
  constexpr double kTimes = 3, kLeast = 0.05, kOfBound = 0.5;
  // What gives nothing, whatever is uncertain, stands behind what gives something. Of JAX the
  // host's side of most launches is not known.
  constexpr double kNothing = 0.01;
  if (!jax)
    std::stable_partition(
        findings.begin(), std::ranges::find(findings, FindingGroup::none, &Finding::group),
        [](const Finding& finding) { return finding.replayed_high.value_or(1) >= kNothing; });
  const auto first = std::ranges::find_if(findings, [](const Finding& finding) {
    return finding.group != FindingGroup::none && finding.gain_ns.has_value();
  });
  if (first == findings.end()) return;
  const double bound = static_cast<double>(*first->gain_ns) / static_cast<double>(window);
  const double given = first->replayed.value_or(kOfBound * bound);
  const auto follows = [](FindingId id) {
    using enum FindingId;
    return id == launch_bound || id == small_batch || id == tiny_kernels || id == host_bound;
  };
  for (auto other = std::next(first); other != findings.end(); ++other)
    if (!follows(other->id) && other->gain_ns &&
        other->replayed.value_or(0) > std::max(kTimes * given, kLeast)) {
      std::rotate(first, other, std::next(other));
      return;
    }
}

}  // namespace

ReplayedFindings with_replayed_gains(std::vector<Finding> findings, const Context& context) {
  const WhatIfChanges changes = changes_of(findings, *context.claims);
  // A counter report alone has no program to run.
  const Capture& capture = context.capture;
  const auto span = part_to_replay(context);
  if (changes.empty() || (capture.api_calls.empty() && capture.host_ops.empty()) || !span)
    return {std::move(findings), {}};
  const auto answer = what_if(context, changes, *span, context.works.get());
  const double unexplained = answer ? answer->unexplained.value_or(1) : 1;
  if (unexplained > kNearlyAll) return {std::move(findings), {}};
  const bool explained = unexplained <= kMostUnexplained;
  for (auto& finding : findings) {
    const auto change = change_of(finding.id);
    const auto row = std::ranges::find(
        answer->changes, change.empty() ? name_of(finding.id) : change, &WhatIfRow::change);
    // A step is a mean between ends, of which a change may move the first more than the last.
    if (row == answer->changes.end() || row->share.value_or(-1) < 0) continue;
    finding.mended_low = row->mended_low;
    finding.mended_high = row->mended_high;
    if (explained) {
      finding.replayed = row->share;
      finding.replayed_low = row->share_low;
      finding.replayed_high = row->share_high;
    } else {  // waits that nothing explains may go with the change, or stay
      finding.mended_low = std::max(0.0, finding.mended_low.value_or(0) - unexplained);
      finding.mended_high = std::min(1.0, finding.mended_high.value_or(1) + unexplained);
    }
  }
  if (!explained) return {std::move(findings), {}};
  // Launches that came late once, since the profile began with an empty queue, or only since
  // recording took long: replay says so.
  constexpr double kNothing = 0.04;
  const auto& kinds = capture.api_calls.kind;
  const bool graphs = std::ranges::find(kinds, ApiKind::graph_launch) != kinds.end();
  std::erase_if(findings, [&](const Finding& finding) {
    return (finding.id == FindingId::unbatched_loop ||
            (finding.id == FindingId::launch_bound && !graphs)) &&
           finding.mended_high && *finding.mended_high < kNothing;
  });
  Nanos window = 0;
  for (const auto& line : context.devices) window += line.window.length();
  put_by_replay(findings, capture.framework == "jax", window);
  const auto all = std::ranges::find(answer->changes, "together", &WhatIfRow::change);
  if (all == answer->changes.end() || all->share.value_or(-1) < 0) return {std::move(findings), {}};
  return {std::move(findings),
          ReplayedTogether{all - answer->changes.begin(), all->share, all->share_low,
                           all->share_high, all->mended_low, all->mended_high}};
}

std::optional<WhatIfSwitches> replayed_switches(const Analysis& analysis, const Context& context) {
  std::vector<Finding> first;
  for (const auto& finding : analysis.findings)
    if (finding.replayed && first.size() < kFewestSwitches) first.push_back(finding);
  if (first.empty() || !context.claims) return std::nullopt;
  WhatIfChanges changes = changes_of(first, *context.claims);
  changes.larger_batch = 1;        // another step, not a shorter one
  changes.host = changes.gpu = 2;  // what limits the program, whatever is found
  const auto span = part_to_replay(context);
  if (changes.empty() || !span) return std::nullopt;
  auto answer = what_if_switches(context, changes, *span);
  if (!answer) return std::nullopt;
  return std::move(*answer);
}

}  // namespace gf
