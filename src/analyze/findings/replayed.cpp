// The order of findings, and what each gives and adds: by the captured program, run again.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/findings/finding_rows.h"
#include "analyze/findings/findings.h"
#include "analyze/replay/host_cuts.h"
#include "analyze/replay/what_if.h"
#include "core/format.h"

namespace gf {

namespace {

// Activities of a capture that runs again as a whole, of the part of a longer one, and of three
// steps of such a one at most.
constexpr std::size_t kMostActivities = 50'000, kOfLongCaptures = 10'000, kMostOfSteps = 200'000;
constexpr double kMostUnexplained = 0.1, kNearlyAll = 0.5;

/// The factor of the replayed batch: so large that launches hardly matter, where the GPU
/// is as empty as this recommendation says.
constexpr double kLargerBatch = 8;

/// As a row of an answer is named that does what it claims.
std::string_view claim_name(const Finding& finding) {
  return finding.rule.empty() ? name_of(finding.id) : finding.rule;
}

/// As its row of an answer is named.
std::string_view change_of(const Finding& finding) {
  const auto change = row_of(finding.id).mended_by;
  return change.empty() ? claim_name(finding) : change;
}

/// Empty where nothing is known that does it.
WhatIfChanges change_named(std::string_view change, const std::vector<FindingClaim>& claims) {
  WhatIfChanges changes;
  if (const auto without = enum_from<Without>(change)) changes.without.push_back(*without);
  if (const auto with = enum_from<With>(change)) changes.with.push_back(*with);
  changes.graph = change == WhatIfChanges::kGraph;
  if (change == WhatIfChanges::kLargerBatch) changes.larger_batch = kLargerBatch;
  const auto claim = std::ranges::find(claims, change, &FindingClaim::name);
  if (claim != claims.end()) changes.claims.push_back(*claim);
  return changes;
}

/// Several findings may have one change.
WhatIfChanges changes_of(std::span<const Finding> findings,
                         const std::vector<FindingClaim>& claims) {
  WhatIfChanges changes;
  std::vector<std::string_view> made;
  for (const auto& finding : findings) {
    const auto change = change_of(finding);
    if (std::ranges::find(made, change) != made.end()) continue;
    made.push_back(change);
    changes.add(change_named(change, claims));
  }
  return changes;
}

/// The part of a capture that is replayed: all of it, or of a long one some steps in the middle;
/// without steps as much of its middle. Empty where so few steps have more activities than that.
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

double part_of(Nanos part, Nanos whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// The most of a step without recording that a finding speaks of. `window`: of all devices
/// together.
double bound_of(const Finding& finding, const WhatIf& answer, Nanos window) {
  const double slowed = answer.own_ns > 0 ? part_of(answer.captured_ns, answer.own_ns) : 1;
  return slowed * part_of(finding.gain_ns.value_or(0), window);
}

Share at_most(Share share, double most) {
  if (share) share = std::min(*share, most);
  return share;
}

/// A share of a step stays one.
Share moved(Share share, double by) {
  if (share) share = std::clamp(*share + by, 0.0, 1.0);
  return share;
}

/// The order of findings, by what their changes give when the program runs again
/// (docs/findings.md).
class Order {
 public:
  /// `window`: of all devices together.
  Order(ProgramReplay& replay, const WhatIf& answer, const std::vector<FindingClaim>& claims,
        Nanos window)
      : replay_(replay), answer_(answer), claims_(claims), window_(window) {
    for (std::size_t row = 0; row < answer.changes.size(); ++row) {
      const auto& one = answer.changes[row];
      if (one.change == WhatIfChanges::kTogether || one.change == WhatIfChanges::kLargerBatch)
        continue;
      all_ |= set_of(row);
      shares_[set_of(row)] = one.share.value_or(0);
    }
    const auto together =
        std::ranges::find(answer.changes, WhatIfChanges::kTogether, &WhatIfRow::change);
    if (together != answer.changes.end()) shares_[all_] = together->share.value_or(0);
  }

  void settle(std::span<Finding> losses) {
    std::vector<Weighed> all;
    for (auto& loss : losses) all.push_back(of(loss));
    for (const auto& one : all)
      if (one.finding.kind == FindingKind::cause) named_ |= one.set;
    for (auto& one : all) one.weight = weight_of(one);
    std::ranges::stable_sort(all, std::greater<>(), &Weighed::weight);
    put_behind_waits(all);
    fold(all);
    // Facts without a gain come last.
    std::ranges::stable_sort(all, {}, [](const Weighed& one) {
      return !one.finding.follows.empty() ? 1 : one.finding.gain_ns ? 0 : 2;
    });
    for (std::size_t i = 0; i < all.size(); ++i) losses[i] = std::move(all[i].finding);
  }

 private:
  static constexpr double kWorth = 0.02, kSameGain = 0.01;
  using Set = std::uint64_t;  // of rows of the answer, each of which changes one thing
  static Set set_of(std::size_t row) { return row < 64 ? Set{1} << row : 0; }

  struct Weighed {
    Finding finding;
    WhatIfChanges change;
    Set set = 0;      // empty of a gain of an item, and of what cannot be replayed
    double gain = 0;  // by itself
    double weight = 0;
    /// A change of all launches.
    bool whole() const { return change.graph || change.larger_batch != 1; }
    bool only_host() const {
      return change.claims.size() == 1 && is_of_host(change.claims.front());
    }
  };

  Weighed of(Finding& finding) const {
    Weighed one{std::move(finding), {}};
    const auto change = change_of(one.finding);
    one.change = change_named(change, claims_);
    const auto row = std::ranges::find(answer_.changes, change, &WhatIfRow::change);
    if (row == answer_.changes.end()) return one;
    one.gain = row->share.value_or(0);
    one.set = all_ & set_of(static_cast<std::size_t>(row - answer_.changes.begin()));
    return one;
  }

  double weight_of(const Weighed& one) {
    // Half of an upper bound that cannot be replayed is assumed.
    constexpr double kOfBound = 0.5;
    if (one.change.empty()) return kOfBound * part_of(one.finding.gain_ns.value_or(0), window_);
    const bool general = one.finding.kind == FindingKind::loss && one.set != 0;
    double weight = replay_.middle_of(general ? given_named(one) : one.gain, one.change);
    // A gain of an item is none of a step, and a change of a kind (copies, graph) may take more
    // than its finding speaks of.
    if (one.change.larger_batch != 1) weight = std::min(weight, kWorth);
    const bool of_a_kind = one.change.claims.empty() || one.finding.kind == FindingKind::loss;
    if (one.change.graph || (one.finding.group == FindingGroup::host && of_a_kind))
      weight = std::min(weight, bound_of(one.finding, answer_, window_));
    return weight;
  }

  /// The gain of a change once all named causes are gone; where all there is left gives little, no
  /// more than that.
  double given_named(const Weighed& one) {
    const double left = share_of(all_) - share_of(named_);
    if (left < kWorth) return std::min(one.gain, left);
    return share_of(named_ | one.set) - share_of(named_);
  }

  /// No change of all launches holds a host that waits: it stands behind what ends the waiting. So
  /// does other work of the host where launches take more: it is as late as they are.
  void put_behind_waits(std::vector<Weighed>& all) {
    double launches = 0;
    for (const auto& one : all)
      if (one.change.graph) launches = std::max(launches, one.gain);
    const auto moves = [&](const Weighed& one) {
      return one.whole() || (one.only_host() && one.gain < launches);
    };
    const auto first = std::ranges::find_if(all, moves);
    auto behind = all.end();
    while (behind != first && (moves(*std::prev(behind)) || !ends_waiting(*std::prev(behind))))
      --behind;
    std::stable_partition(first, behind, [&](const Weighed& one) { return !moves(one); });
  }
  bool ends_waiting(const Weighed& one) {
    return one.gain >= kWorth && replay_.frees_host(one.change);
  }

  /// Each adds to those above it. What is the same change as one of them, or gives little once they
  /// are made, follows from one.
  void fold(std::vector<Weighed>& all) {
    std::vector<const Weighed*> above;
    Set done = 0;
    for (auto& one : all) {
      if (one.set == 0) continue;
      const double adds = added_by(one, done);
      if ((done & one.set) != 0 || follows(one, adds)) {
        one.finding.follows = claim_name(source_of(one, above).finding);
        continue;
      }
      if (adds + kSameGain < one.finding.replayed.value_or(0)) one.finding.adds = adds;
      above.push_back(&one);
      done |= one.set;
    }
  }
  static bool follows(const Weighed& one, double adds) {
    return adds < kWorth && one.gain >= kWorth && 2 * adds <= one.gain;
  }
  /// Where it follows whatever is left, at most that.
  double added_by(const Weighed& one, Set done) {
    if (done == 0) return one.gain;
    if ((done & one.set) != 0) return 0;
    const double left = std::max(0.0, share_of(all_) - share_of(done));
    if (follows(one, left)) return left;
    return std::max(0.0, share_of(done | one.set) - share_of(done));
  }
  const Weighed& source_of(const Weighed& one, const std::vector<const Weighed*>& above) {
    const auto source = std::ranges::find_if(above, [&](const Weighed* other) {
      return other->set == one.set || follows(one, added_by(one, other->set));
    });
    return source == above.end() ? *above.back() : **source;
  }

  /// The joint gain of the changes of a set. Each set runs once.
  double share_of(Set set) {
    if (set == 0) return 0;
    const auto [known, fresh] = shares_.try_emplace(set, 0);
    if (!fresh) return known->second;
    WhatIfChanges changes;
    for (std::size_t row = 0; row < answer_.changes.size(); ++row)
      if ((set & set_of(row)) != 0) changes.add(change_named(answer_.changes[row].change, claims_));
    return known->second = replay_.share_of(changes);
  }

  ProgramReplay& replay_;
  const WhatIf& answer_;
  const std::vector<FindingClaim>& claims_;
  Nanos window_;
  Set all_ = 0, named_ = 0;       // all changes; those of named causes
  std::map<Set, double> shares_;  // of a step
};

ReplayedFindings with_gains(std::vector<Finding> findings, const WhatIfChanges& changes,
                            ProgramReplay& replay, const Context& context) {
  const auto answer = replay.answer(changes);
  const double unexplained = answer ? answer->unexplained.value_or(1) : 1;
  if (unexplained > kNearlyAll) return {std::move(findings), {}, {}};
  // Waits that nothing explains stay when the program runs again, and may go with a change.
  const double may_go = unexplained <= kMostUnexplained ? 0 : unexplained;
  Nanos window = 0;
  for (const auto& line : context.devices) window += line.window.length();
  for (auto& finding : findings) {
    const auto row = std::ranges::find(answer->changes, change_of(finding), &WhatIfRow::change);
    // A step is a mean between ends, of which a change may move the first more than the last.
    if (row == answer->changes.end() || row->share.value_or(-1) < 0) continue;
    finding.mended_low = moved(row->mended_low, -may_go);
    finding.mended_high = moved(row->mended_high, may_go);
    // One graph takes all launches, also those of which the finding does not speak. Input is waited
    // for in other steps than those that are counted, too.
    const bool bounded =
        row->change == WhatIfChanges::kGraph || row->change == name_of(Without::input);
    const double most = bounded ? bound_of(finding, *answer, window) : 1.0;
    finding.replayed = at_most(row->share, most);
    finding.replayed_low = at_most(row->share_low, most);
    finding.replayed_high = at_most(moved(row->share_high, may_go), std::min(1.0, most + may_go));
  }
  if (auto* profiler = find_with(findings, &FindingRow::of_profiler))
    profiler->text +=
        answer->steps > 1
            ? fmt::format(
                  " Replayed without it, a step's GPU work ends {} after that of the step "
                  "before, instead of {}.",
                  say_time(answer->own_ns), say_time(answer->captured_ns))
            : fmt::format(" Replayed without it, the program takes {} instead of {}.",
                          say_time(answer->own_ns), say_time(answer->captured_ns));
  // Launches that came late once, since the profile began with an empty queue, or only since
  // recording took long: replay says so.
  constexpr double kNothing = 0.04;
  const auto& kinds = context.capture.api_calls.kind;
  const bool graphs = std::ranges::find(kinds, ApiKind::graph_launch) != kinds.end();
  std::erase_if(findings, [&](const Finding& finding) {
    const auto& row = row_of(finding.id);
    return row.only_replayed && (row.mended_by != WhatIfChanges::kGraph || !graphs) &&
           finding.mended_high && *finding.mended_high < kNothing;
  });
  const auto is_loss = [](const Finding& finding) { return is_recommendation(finding.id); };
  const auto losses = std::ranges::find_if(findings, is_loss);
  Order(replay, *answer, *context.claims, window)
      .settle({losses, std::find_if_not(losses, findings.end(), is_loss)});
  const auto all = std::ranges::find(answer->changes, WhatIfChanges::kTogether, &WhatIfRow::change);
  if (all == answer->changes.end() || all->share.value_or(-1) < 0)
    return {std::move(findings), {}, {}};
  return {std::move(findings),
          ReplayedTogether{all - answer->changes.begin(), all->share, all->share_low,
                           moved(all->share_high, may_go), all->mended_low, all->mended_high},
          {}};
}

}  // namespace

std::optional<ProgramReplay> replay_of_part(const Context& context) {
  // A counter report alone has no program to run.
  const Capture& capture = context.capture;
  const auto span = part_to_replay(context);
  if ((capture.api_calls.empty() && capture.host_ops.empty()) || !span) return std::nullopt;
  auto replay = ProgramReplay::of(context, *span, context.works.get());
  return replay ? std::optional(std::move(*replay)) : std::nullopt;
}

ReplayedFindings with_replayed_gains(std::vector<Finding> findings, const Context& context,
                                     std::future<std::optional<ProgramReplay>> ahead) {
  const WhatIfChanges changes = changes_of(findings, *context.claims);
  if (changes.empty()) return {std::move(findings), {}, {}};
  auto replay = ahead.get();
  if (!replay) return {std::move(findings), {}, {}};
  auto found = with_gains(std::move(findings), changes, *replay, context);
  found.part = replay->part();
  return found;
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
