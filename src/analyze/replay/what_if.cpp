#include "analyze/replay/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "analyze/replay/named_changes.h"
#include "analyze/replay/program.h"
#include "analyze/work/kernel_work.h"
#include "core/intervals.h"
#include "core/strings.h"
#include "model/chips.h"
#include "model/formats.h"

namespace gf {

namespace {

// The error of replay itself, as half of the mended programs showed and the other half confirmed
// (docs/whatif.md): the odds of a gain are 2.5 times less to 5 times more, where a
// step is jitted 4 times less, and 12 where launches may become fewer in one part instead; of what
// is done in another way 2 times less to 7 times more; an own step 4 %.
struct Odds {
  double low, high;
};
constexpr Odds kOfTime{2.5, 5}, kOfGraph{4, 5}, kOfLaunches{12, 3}, kOfAnotherWay{2, 7};
constexpr double kOwnMissed = 0.04;
// Beside another program, or alone, a host takes 10 % less to 20 % more; a quarter less than under
// a profiler that says nothing of what it takes.
constexpr double kHostLess = 0.1, kHostMore = 0.2, kRecordedHostLess = 0.25;

/// True if something else comes in the place of what is changed: who changes it may change more.
bool in_another_way(const WhatIfChanges& changes) {
  return changes.gpu_as || is_linked(changes) || !changes.with.empty() ||
         asks(changes, Without::sync) || asks(changes, Without::copies) ||
         asks(changes, Without::allocations) ||
         std::ranges::any_of(changes.claims, [](const FindingClaim& claim) {
           return !claim.time.activities.empty();
         });
}

/// True if no part of the program takes longer than it did: nor can a step in the long run.
bool only_less(const WhatIfChanges& changes) {
  return std::min({changes.host, changes.gpu, changes.link}) >= 1 && changes.batch <= 1 &&
         !changes.gpu_as && changes.link_bytes_per_s == 0 &&
         std::ranges::all_of(changes.kernels, [](const auto& one) { return one.second >= 1; }) &&
         std::ranges::all_of(changes.claims,
                             [](const auto& claim) { return claim.time.changed.empty(); });
}

double with_odds(double share, double times) {
  if (share <= 0 || share >= 1) return share;
  const double odds = times * share / (1 - share);
  return odds / (1 + odds);
}

/// The gain of a step. A step is a mean between ends, of which less time may move the first more
/// than the last: then nothing is gained. A ten-thousandth of a step is the rounding of its mean.
Nanos gained(Nanos own, Nanos step, const WhatIfChanges& changes) {
  constexpr Nanos kRounding = 10'000;
  const Nanos gain = only_less(changes) ? std::max<Nanos>(0, own - step) : own - step;
  return std::abs(gain) * kRounding < own ? 0 : gain;
}

/// Steps of a change, each with the program's own step at the same cost of recording.
struct Outlooks {
  std::vector<Outlook> change;
  std::vector<Nanos> own;
  void add(const Outlook& outlook, Nanos own_step) {
    change.push_back(outlook);
    own.push_back(own_step);
  }
};

/// Those of the change itself, then (from `itself` on) that of who does more than it asks for.
Outlooks outlooks_of(const WhatIfChanges& changes, const WhatIf& answer, std::size_t& itself) {
  Outlooks all;
  all.add({}, answer.own_ns);
  all.add({kCheap}, answer.own_high_ns);
  all.add({kDear}, answer.own_low_ns);
  const bool waits = asks(changes, Without::sync) || asks(changes, Without::copies) ||
                     asks(changes, Without::allocations);
  if (!changes.claims.empty() || in_another_way(changes)) {
    const bool kernels = !waits || !changes.with.empty() || !changes.claims.empty();
    if (kernels) all.add({kUsual, &MendedTime::best}, answer.own_ns);
    all.add({kUsual, &MendedTime::worst}, answer.own_ns);
  }
  itself = all.change.size();
  if (waits || std::ranges::any_of(changes.claims, [](const FindingClaim& claim) {
        return !claim.time.host.empty();
      }))
    all.add({kUsual, &MendedTime::best, true}, answer.own_ns);
  return all;
}

Odds odds_of(const Program& program, const WhatIfChanges& changes) {
  if (in_another_way(changes)) return kOfAnotherWay;
  if (changes.graph) return program.is_jitted() ? kOfGraph : kOfLaunches;
  return kOfTime;
}

WhatIfRow row_of(Program& program, const Named& named, const WhatIf& answer) {
  program.prepare(named.changes);
  if (program.finds_nothing(named.changes))
    return {named.change, named.meaning,
            std::llround(static_cast<double>(answer.own_ns) / named.items)};
  std::size_t itself = 0;
  const Outlooks outlooks = outlooks_of(named.changes, answer, itself);
  auto steps = program.steps_with(named.changes, outlooks.change);
  for (auto& step : steps) step = std::llround(static_cast<double>(step) / named.items);
  WhatIfRow row{named.change, named.meaning, steps.front()};
  row.gain_ns = row.gain_low_ns = row.gain_high_ns =
      gained(answer.own_ns, row.step_ns, named.changes);
  row.step_ns = std::min(row.step_ns, answer.own_ns - row.gain_ns);
  row.share = row.share_low = row.share_high = share_of(row.gain_ns, answer.own_ns);
  for (std::size_t i = 1; i < itself; ++i) {
    const Nanos gain = gained(outlooks.own[i], steps[i], named.changes);
    row.gain_low_ns = std::min(row.gain_low_ns, gain);
    row.gain_high_ns = std::max(row.gain_high_ns, gain);
    row.share_low = std::min(row.share_low, share_of(gain, outlooks.own[i]));
    row.share_high = std::max(row.share_high, share_of(gain, outlooks.own[i]));
  }
  row.mended_low = row.share_low;
  row.mended_high = row.share_high;
  if (itself < steps.size())
    row.mended_high =
        std::max(row.mended_high,
                 share_of(gained(answer.own_ns, steps[itself], named.changes), answer.own_ns));
  const Odds odds = odds_of(program, named.changes);
  auto widen = [](std::optional<double>& share, double times) {
    if (share) share = with_odds(*share, times);
  };
  widen(row.mended_low, 1 / odds.low);
  widen(row.mended_high, odds.high);
  return row;
}

/// All changes in one run: as much as the largest of them at least. That a run ends no later by one
/// more of them holds, but a step is a mean between ends, of which the first may move more.
WhatIfRow together_of(Program& program, const WhatIfChanges& changes, const WhatIf& answer) {
  WhatIfRow all =
      row_of(program, {std::string(WhatIfChanges::kTogether), "all of these", changes}, answer);
  if (std::ranges::any_of(answer.changes, [](const auto& part) { return part.gain_low_ns < 0; }))
    return all;  // one of them takes longer
  for (const auto& part : answer.changes) {
    all.step_ns = std::min(all.step_ns, part.step_ns);
    all.gain_ns = std::max(all.gain_ns, part.gain_ns);
    all.gain_low_ns = std::max(all.gain_low_ns, part.gain_low_ns);
    all.gain_high_ns = std::max(all.gain_high_ns, part.gain_high_ns);
    all.share = std::max(all.share, part.share);
    all.share_low = std::max(all.share_low, part.share_low);
    all.share_high = std::max(all.share_high, part.share_high);
    all.mended_low = std::max(all.mended_low, part.mended_low);
    all.mended_high = std::max(all.mended_high, part.mended_high);
  }
  return all;
}

/// `busy`: share of the captured time in which the device works; the rest of a step is the host's.
void widen_own(WhatIf& answer, double busy, double host_less) {
  const auto own = static_cast<double>(answer.own_ns);
  const double host = std::max(0.0, own - busy * static_cast<double>(answer.captured_ns));
  auto widened = [&](Nanos& bound, double times, double of_host) {
    bound = std::llround(times * static_cast<double>(bound) + of_host * host);
  };
  widened(answer.own_low_ns, 1 - kOwnMissed, -host_less);
  widened(answer.own_high_ns, 1 + kOwnMissed, kHostMore);
  answer.own_low_ns = std::max<Nanos>(answer.own_low_ns, 0);
}

const DeviceTimeline* busiest(const Context& context) {
  const DeviceTimeline* best = nullptr;
  for (const auto& line : context.devices)
    if (!line.rows.empty() && (!best || line.kernel_busy_ns() > best->kernel_busy_ns()))
      best = &line;
  return best;
}

Status check_names(const Program& program, const WhatIfChanges& changes, const Capture& capture) {
  for (const auto& [part, factor] : changes.kernels)
    if (!program.has_kernel(part))
      return fail(fmt::format("no kernel has {} in its name", part), capture.path);
  for (const auto& part : changes.operators)
    if (!program.has_operator(part))
      return fail(fmt::format("no operator has {} in its name", part), capture.path);
  return {};
}

}  // namespace

void WhatIfChanges::add(const WhatIfChanges& other) {
  without.insert(without.end(), other.without.begin(), other.without.end());
  with.insert(with.end(), other.with.begin(), other.with.end());
  claims.insert(claims.end(), other.claims.begin(), other.claims.end());
  operators.insert(operators.end(), other.operators.begin(), other.operators.end());
  kernels.insert(kernels.end(), other.kernels.begin(), other.kernels.end());
  if (other.gpu_as) gpu_as = other.gpu_as;
  if (other.link_bytes_per_s > 0) link_bytes_per_s = other.link_bytes_per_s;
  graph = graph || other.graph;
  host *= other.host;
  gpu *= other.gpu;
  link *= other.link;
  batch *= other.batch;
  larger_batch *= other.larger_batch;
}

bool WhatIfChanges::has(double WhatIfChanges::* factor) const {
  return this->*factor != 1 || std::ranges::find(asked, factor) != asked.end();
}

bool WhatIfChanges::empty() const { return each_of(*this).empty() && larger_batch == 1; }

struct ProgramReplay::Parts {
  Parts(const Context& given, const DeviceTimeline& line, Interval span,
        const work::KernelWorks* works)
      : context(given), program(given, line, span, works) {
    if (program.empty()) return;
    own.device = program.device();
    own.steps = static_cast<std::int64_t>(program.steps());
    own.captured_ns = program.captured();
    const std::array<Outlook, 4> outlooks{{{0}, {}, {kDear}, {kCheap}}};
    const auto steps = program.steps_with({}, outlooks);
    own.replayed_ns = steps[0];
    own.own_ns = steps[1];
    own.own_low_ns = steps[2];
    own.own_high_ns = steps[3];
    own.unexplained = program.unexplained();
  }
  const Context& context;
  Program program;
  WhatIf own;  // without changes
};

ProgramReplay::ProgramReplay(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ProgramReplay::ProgramReplay(ProgramReplay&&) noexcept = default;
ProgramReplay::~ProgramReplay() = default;

Result<ProgramReplay> ProgramReplay::of(const Context& context, Interval span,
                                        const work::KernelWorks* works) {
  const DeviceTimeline* line = busiest(context);
  std::unique_ptr<Parts> parts;
  if (line)
    parts = std::make_unique<Parts>(context, *line, span, works ? works : work::works_of(context));
  if (!parts || parts->program.empty())
    return fail("has no device activities to run again", context.capture.path);
  return ProgramReplay(std::move(parts));
}

Result<WhatIf> ProgramReplay::answer(const WhatIfChanges& changes) {
  auto& program = parts_->program;
  const Capture& capture = parts_->context.capture;
  if (auto known = check_names(program, changes, capture); !known)
    return tl::unexpected(known.error());
  WhatIf answer = parts_->own;
  const bool asked = !changes.empty();
  for (const auto& named : asked ? each_of(changes) : usual_changes())
    answer.changes.push_back(row_of(program, named, answer));
  if (asked && answer.changes.size() > 1)
    answer.changes.push_back(together_of(program, changes, answer));
  if (changes.larger_batch != 1)
    answer.changes.push_back(row_of(program, larger(changes.larger_batch), answer));
  if (!asked) std::ranges::stable_sort(answer.changes, std::greater<>(), &WhatIfRow::gain_ns);
  widen_own(answer, program.busy(),
            says(capture.format, kMaySlowHost) ? kRecordedHostLess : kHostLess);
  return answer;
}

double ProgramReplay::share_of(const WhatIfChanges& changes) {
  auto& program = parts_->program;
  const auto& own = parts_->own;
  program.prepare(changes);
  if (own.own_ns <= 0 || program.finds_nothing(changes)) return 0;
  const Nanos step = program.step_with(changes, {});
  return static_cast<double>(gained(own.own_ns, step, changes)) / static_cast<double>(own.own_ns);
}

double ProgramReplay::middle_of(double share, const WhatIfChanges& changes) const {
  const Odds odds = odds_of(parts_->program, changes);
  return with_odds(share, std::sqrt(odds.high / odds.low));
}

bool ProgramReplay::frees_host(const WhatIfChanges& changes) {
  // Changes that only mend kernels end no wait.
  if (changes.without.empty() && changes.claims.empty() && changes.operators.empty()) return false;
  auto& program = parts_->program;
  program.prepare(changes);
  return program.waits_gone(changes) >= std::max<std::size_t>(program.steps(), 1);
}

ReplayedPart ProgramReplay::part() const { return parts_->program.part(); }

Result<WhatIf> what_if(const Context& context, const WhatIfChanges& changes, Interval span,
                       const work::KernelWorks* works) {
  auto program = ProgramReplay::of(context, span, works);
  if (!program) return tl::unexpected(program.error());
  return program->answer(changes);
}

namespace {

WhatIfChanges together_of(std::span<const Named> all, std::size_t set) {
  WhatIfChanges together;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (set >> i & 1U) together.add(all[i].changes);
  return together;
}

/// A step with each set of the changes. A faster host or GPU cuts nothing: sets that differ in
/// these share what is cut.
std::vector<Nanos> steps_of_sets(const Program& program, std::span<const Named> all) {
  std::size_t speeds = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].changes.host != 1 || all[i].changes.gpu != 1) speeds |= std::size_t{1} << i;
  std::vector<Nanos> steps(std::size_t{1} << all.size());
  for (std::size_t set = 0; set < steps.size(); ++set) {
    if ((set & speeds) != 0) continue;
    std::vector<std::size_t> sets;
    std::vector<Outlook> outlooks;
    for (std::size_t more = 0;; more = (more - speeds) & speeds) {
      const WhatIfChanges faster = together_of(all, more);
      sets.push_back(set | more);
      outlooks.push_back({.host = faster.host, .gpu = faster.gpu});
      if (more == speeds) break;
    }
    const auto found = program.steps_with(together_of(all, set), outlooks);
    for (std::size_t i = 0; i < sets.size(); ++i) steps[sets[i]] = found[i];
  }
  return steps;
}

}  // namespace

Result<WhatIfSwitches> what_if_switches(const Context& context, const WhatIfChanges& changes,
                                        Interval span) {
  const DeviceTimeline* line = busiest(context);
  if (!line) return fail("has no device activities to run again", context.capture.path);
  Program program(context, *line, span, work::works_of(context));
  if (program.empty()) return fail("has no device activities to run again", context.capture.path);
  program.prepare(changes);
  auto all = each_of(changes);
  all.resize(std::min(all.size(), program.most_switches()));
  WhatIfSwitches answer;
  for (const auto& named : all) answer.switches.push_back({named.change, named.meaning});
  answer.step_ns = steps_of_sets(program, all);
  for (std::size_t set = 0; set < answer.step_ns.size(); ++set) {
    // One change more that only takes less time leaves no more of it.
    if (only_less(together_of(all, set)))
      for (std::size_t rest = set; rest != 0; rest &= rest - 1)
        answer.step_ns[set] =
            std::min(answer.step_ns[set], answer.step_ns[set ^ (rest & ~(rest - 1))]);
  }
  answer.own_ns = answer.step_ns.front();
  return answer;
}

}  // namespace gf
