#include "analyze/findings/findings.h"

#include <fmt/format.h>

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
struct Declared {
  Rank rank;
  FindingGroup group;
};
constexpr Declared kDeclared[] = {
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain) \
  {Rank::rank, FindingGroup::group},
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain)
#include "analyze/names/findings.def"
#undef GF_FINDING
#undef GF_FINDING_TOO
};
const Declared& declared(const Finding& finding) {
  return kDeclared[static_cast<std::size_t>(finding.id)];
}
bool is_loss(const Finding& finding) {
  return declared(finding).rank == Rank::cause || declared(finding).rank == Rank::loss;
}

/// What a rule claimed is replayed with its finding; samples know nothing to claim.
void keep_claim(const std::optional<Finding>& found, const TraceFacts& facts,
                std::vector<FindingClaim>& claims) {
  ClaimedTime time = facts.take_claim();
  if (found && (!time.host.empty() || !time.activities.empty() || !time.changed.empty()))
    claims.push_back({found->id, std::move(time)});
}
void keep_claim(const std::optional<Finding>&, const SampleFacts&, std::vector<FindingClaim>&) {}

template <class Facts>
FoundInTrace apply(std::span<const Rule<Facts>> rules, const Facts& facts) {
  std::vector<FindingClaim> claims;
  std::vector<Finding> caveats, losses, notes;
  auto ask = [&](bool causes) {
    for (const auto& rule : rules) {
      if ((rule.rank == Rank::cause) != causes) continue;
      auto found = rule.find(facts);
      keep_claim(found, facts, claims);
      if (!found) continue;
      found->group = declared(*found).group;
      // Where kernels hardly run, they are not what to change.
      const bool known = causes || found->id == FindingId::low_tensor_use;  // by counters
      const double worth_saying = known ? 0.02 : 0.06;
      if (found->group == FindingGroup::kernels && found->gain_ns &&
          facts.of_window(*found->gain_ns) < worth_saying)
        continue;
      auto& like = rule.rank == Rank::caveat ? caveats : rule.rank == Rank::note ? notes : losses;
      like.push_back(std::move(*found));
    }
  };
  ask(true);  // causes take their time out of what the others tell
  ask(false);
  // What compiles again and again hardly works, and that is what to change.
  if (std::ranges::find(losses, FindingId::recompilation, &Finding::id) != losses.end())
    std::erase_if(caveats,
                  [](const Finding& caveat) { return caveat.id == FindingId::little_work; });
  // Advice is not built on evidence that is known to be wrong, or on next to none.
  if (std::ranges::any_of(caveats, [](const Finding& caveat) {
        return caveat.id == FindingId::advice_withheld || caveat.id == FindingId::little_work;
      }))
    losses.clear();
  // Replay orders what it can run again.
  std::ranges::stable_sort(losses, std::greater<>(), [](const Finding& loss) {
    return std::pair(declared(loss).rank == Rank::cause, loss.gain_ns.value_or(0));
  });
  // Why a flight recorder kept the capture is what its reader wants first.
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

/// The order of findings, by what their changes give when the program runs again
/// (docs/findings.md).
class Order {
 public:
  /// `before`: findings that stand before the first loss; `slowed`: how much longer a step took to
  /// record than it takes by itself.
  Order(ProgramReplay& replay, const std::vector<FindingClaim>& claims, Nanos window, double slowed,
        std::size_t before)
      : replay_(replay), claims_(claims), window_(window), slowed_(slowed), before_(before) {}

  void settle(std::span<Finding> losses) {
    for (const auto& loss : losses)
      if (declared(loss).rank == Rank::cause) named_.add(steps_only(changes_of({loss}, claims_)));
    std::vector<Weighed> all;
    for (auto& loss : losses) all.push_back(weigh(loss));
    std::ranges::stable_sort(all, std::greater<>(), &Weighed::weight);
    put_behind_waits(all);
    fold(all);
    // Facts without a gain come last.
    std::ranges::stable_sort(all, {}, [](const Weighed& one) {
      return one.follows != 0 ? 1 : one.finding.gain_ns ? 0 : 2;
    });
    for (std::size_t i = 0; i < all.size(); ++i) losses[i] = std::move(all[i].finding);
  }

 private:
  static constexpr double kWorth = 0.02, kLarge = 0.05;
  struct Weighed {
    Finding finding;
    WhatIfChanges change;
    SetGain alone;
    double weight = 0;
    std::size_t follows = 0;  // place, from 1, of what it follows from
    bool whole() const { return change.graph || change.larger_batch != 1; }
  };

  static WhatIfChanges steps_only(WhatIfChanges changes) {
    changes.larger_batch = 1;
    return changes;
  }

  Weighed weigh(Finding& finding) {
    // Of an upper bound that cannot be replayed half is assumed.
    constexpr double kOfBound = 0.5;
    Weighed one{std::move(finding), {}, {}};
    one.change = changes_of({one.finding}, claims_);
    const double bound = window_ > 0 ? static_cast<double>(one.finding.gain_ns.value_or(0)) /
                                           static_cast<double>(window_)
                                     : 0;
    one.weight = kOfBound * bound;
    if (one.change.empty()) return one;
    one.alone = replay_.gain_of(one.change);
    const bool general = declared(one.finding).rank != Rank::cause;
    one.weight = general && !named_.empty() ? replay_.gain_given(named_, one.change).middle
                                            : one.alone.middle;
    // A gain of an item is none of a step, and a change of a kind (pauses, copies) may take more
    // than its finding speaks of.
    if (one.change.larger_batch != 1) one.weight = std::min(one.weight, kWorth);
    if (one.finding.group == FindingGroup::host && one.change.claims.empty())
      one.weight = std::min(one.weight, slowed_ * bound);
    return one;
  }

  /// No change of all launches holds a host that waits: it stands behind what ends the waiting.
  static void put_behind_waits(std::vector<Weighed>& all) {
    const auto waits = std::ranges::find_if(all.rbegin(), all.rend(), [](const Weighed& one) {
      return !one.whole() && one.alone.frees_host && one.alone.share >= kWorth;
    });
    std::stable_partition(all.begin(), waits.base(),
                          [](const Weighed& one) { return !one.whole(); });
  }

  /// What gives little once those above are mended, or is the same change, follows from one.
  void fold(std::vector<Weighed>& all) {
    std::vector<const Weighed*> above;
    WhatIfChanges done;
    for (auto& one : all) {
      if (one.change.empty()) continue;
      if (one.change.larger_batch == 1 && one.alone.share >= kLarge && !above.empty() &&
          replay_.gain_given(done, one.change).share < kWorth)
        for (std::size_t i = 0; i < above.size() && one.follows == 0; ++i)
          if (i + 1 == above.size() ||
              replay_.gain_given(above[i]->change, one.change).share < kWorth)
            one.follows = place_of(all, *above[i]);
      if (one.follows != 0) {
        one.finding.text += fmt::format(" It follows from {}.", one.follows);
      } else if (one.change.larger_batch == 1) {
        above.push_back(&one);
        done.add(one.change);
      }
    }
  }
  std::size_t place_of(const std::vector<Weighed>& all, const Weighed& one) const {
    std::size_t place = before_ + 1;
    for (const auto* other = all.data(); other != &one; ++other) place += other->follows == 0;
    return place;
  }

  ProgramReplay& replay_;
  const std::vector<FindingClaim>& claims_;
  Nanos window_;
  double slowed_;
  std::size_t before_;
  WhatIfChanges named_;  // of all named causes
};

}  // namespace

ReplayedFindings with_replayed_gains(std::vector<Finding> findings, const Context& context) {
  const WhatIfChanges changes = changes_of(findings, *context.claims);
  // A counter report alone has no program to run.
  const Capture& capture = context.capture;
  const auto span = part_to_replay(context);
  if (changes.empty() || (capture.api_calls.empty() && capture.host_ops.empty()) || !span)
    return {std::move(findings), {}};
  auto replay = ProgramReplay::of(context, *span, context.works.get());
  if (!replay) return {std::move(findings), {}};
  const auto answer = replay->answer(changes);
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
  const auto losses = std::ranges::find_if(findings, is_loss);
  const auto behind = std::find_if_not(losses, findings.end(), is_loss);
  const double slowed = answer->own_ns > 0 ? static_cast<double>(answer->captured_ns) /
                                                 static_cast<double>(answer->own_ns)
                                           : 1;
  Order(*replay, *context.claims, window, slowed,
        static_cast<std::size_t>(losses - findings.begin()))
      .settle({losses, behind});
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
