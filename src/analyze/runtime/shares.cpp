#include "analyze/runtime/shares.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <span>

namespace gf {

namespace {

std::optional<double> per_item(Nanos ns, std::int64_t items) {
  if (items > 0) return std::optional<double>(static_cast<double>(ns) / static_cast<double>(items));
  return std::nullopt;
}

constexpr PhaseMask bit_of(std::size_t phase) { return static_cast<PhaseMask>(1u << phase); }

void add(Intervals& set, Interval span, Interval window) {
  span = {std::max(span.start, window.start), std::min(span.end, window.end)};
  if (span.start < span.end) set.push_back(span);
}

/// A set, and the memory it lies in where it was made here.
struct Union {
  std::span<const Interval> members;
  Intervals made;
};

/// The union of several sets: always of the two smallest, so that no member is copied often.
Union unite_all(const std::vector<std::span<const Interval>>& sets) {
  std::multimap<std::size_t, Union> left;
  for (const auto set : sets) left.emplace(set.size(), Union{set, {}});
  while (left.size() > 1) {
    const auto first = left.extract(left.begin()), second = left.extract(left.begin());
    Union both;
    both.made = unite(first.mapped().members, second.mapped().members);
    both.members = both.made;
    left.emplace(both.members.size(), std::move(both));
  }
  return std::move(left.begin()->second);
}

/// Sums up to every so many pieces, so that a long span costs no more than a short one.
constexpr std::size_t kPiecesTogether = 1024;

void sum_up(PhaseTimeline& timeline) {
  PhaseSums sums{};
  for (std::size_t i = 0; i < timeline.start_ns.size(); ++i) {
    if (i % kPiecesTogether == 0) timeline.sums_before.push_back(sums);
    sums[timeline.phases[i]] += timeline.end_of(i) - timeline.start_ns[i];
  }
}

}  // namespace

PhaseTimeline overlay(const PhaseSets& sets, Interval window) {
  struct Source {
    PhaseMask bit;
    std::span<const Interval> left;
  };
  std::array<Union, std::tuple_size_v<PhaseSets>> united;
  std::vector<Source> sources;
  for (std::size_t phase = 0; phase < sets.size(); ++phase) {
    auto of_phase = sets[phase];
    std::erase_if(of_phase, [](auto set) { return set.empty(); });
    if (of_phase.empty()) continue;
    united[phase] = unite_all(of_phase);
    const auto all = united[phase].members;
    const auto first = std::partition_point(
        all.begin(), all.end(), [&](const Interval& i) { return i.end <= window.start; });
    sources.push_back({bit_of(phase), all.subspan(static_cast<std::size_t>(first - all.begin()))});
  }
  PhaseTimeline timeline;
  timeline.window = window;
  std::size_t most = 1;  // pieces; one begins where a member of a source does, or ends
  for (const auto& source : sources) most += 2 * source.left.size();
  timeline.start_ns.reserve(most);
  timeline.phases.reserve(most);
  for (Nanos now = window.start; now < window.end;) {
    PhaseMask phases = 0;
    Nanos next = window.end;
    for (auto& [bit, left] : sources) {
      if (!left.empty() && left.front().end <= now) left = left.subspan(1);
      if (left.empty()) continue;
      const bool holds = left.front().start <= now;
      if (holds) {
        phases |= bit;
        next = std::min(next, left.front().end);
      } else {
        next = std::min(next, left.front().start);
      }
    }
    timeline.start_ns.push_back(now);
    timeline.phases.push_back(phases);
    now = next;
  }
  sum_up(timeline);
  return timeline;
}

PhaseTimeline lay_out_phases(const Context& context, const RuntimeTrace& trace, Interval window) {
  std::array<Intervals, std::tuple_size_v<PhaseSets>> devices;
  const auto& activities = context.capture.activities;
  const auto& calls = context.capture.api_calls;
  for (const auto phase : {RuntimePhase::gpu_kernel, RuntimePhase::queued})
    devices[index_of(phase)].reserve(activities.size());
  for (std::uint32_t i = 0; i < activities.size(); ++i) {
    const Interval span{activities.start_ns[i], activities.start_ns[i] + activities.duration_ns[i]};
    auto phase = RuntimePhase::memcpy;
    if (activities.kind[i] == ActivityKind::kernel) phase = RuntimePhase::gpu_kernel;
    add(devices[index_of(phase)], span, window);
    if (const auto call = context.launches[i]; call != kNoRow)
      add(devices[index_of(RuntimePhase::queued)],
          {calls.start_ns[call] + calls.duration_ns[call], span.start}, window);
  }
  for (const auto& item : trace.framework_queue)
    add(devices[index_of(RuntimePhase::queued)], {item.enter, item.leave}, window);
  PhaseSets sets;
  for (std::size_t phase = 0; phase < sets.size(); ++phase) {
    devices[phase] = normalised(std::move(devices[phase]));
    sets[phase].push_back(devices[phase]);
    for (const auto& thread : trace.threads) sets[phase].push_back(thread[phase].span());
  }
  return overlay(sets, window);
}

namespace {

/// The piece that holds `time`, looked for from `piece` on: in steps that double, since it is near
/// most times.
std::size_t piece_at(const PhaseTimeline& timeline, std::size_t piece, Nanos time) {
  const auto& start = timeline.start_ns;
  std::size_t step = 1;
  while (piece + step < start.size() && start[piece + step] <= time) {
    piece += step;
    step *= 2;
  }
  const auto first = start.begin() + static_cast<std::ptrdiff_t>(piece),
             last =
                 start.begin() + static_cast<std::ptrdiff_t>(std::min(piece + step, start.size()));
  return static_cast<std::size_t>(std::upper_bound(first + 1, last, time) - start.begin()) - 1;
}

}  // namespace

PhaseSums sum_phases(const PhaseTimeline& timeline, const Intervals& within) {
  PhaseSums sums{};
  if (timeline.start_ns.empty()) return sums;
  std::size_t piece = 0;
  auto walk = [&](std::size_t until, const Interval& span) {
    for (; piece < until; ++piece) {
      const Nanos from = std::max(span.start, timeline.start_ns[piece]),
                  to = std::min(span.end, timeline.end_of(piece));
      if (from < to) sums[timeline.phases[piece]] += to - from;
    }
  };
  for (const auto& span : within) {
    piece = piece_at(timeline, piece, span.start);
    const std::size_t last = piece_at(timeline, piece, span.end);
    const std::size_t first_block = piece / kPiecesTogether + 1,
                      last_block = last / kPiecesTogether;
    if (first_block < last_block) {
      walk(first_block * kPiecesTogether, span);
      for (std::size_t mask = 0; mask < sums.size(); ++mask)
        sums[mask] +=
            timeline.sums_before[last_block][mask] - timeline.sums_before[first_block][mask];
      piece = last_block * kPiecesTogether;
    }
    walk(last + 1, span);
    piece = last;
  }
  return sums;
}

std::vector<PhaseTime> phase_times(const PhaseSums& sums, std::int64_t items) {
  std::array<Nanos, kRuntimePhases> label{}, present{};
  for (std::size_t mask = 0; mask < sums.size(); ++mask) {
    // The lowest bit is the first phase; without any it is `other`, the one behind them.
    std::size_t first = index_of(RuntimePhase::other);
    if (mask != 0) first = static_cast<std::size_t>(std::countr_zero(mask));
    label[first] += sums[mask];
    for (std::size_t phase = 0; phase < index_of(RuntimePhase::other); ++phase)
      if (mask & bit_of(phase)) present[phase] += sums[mask];
  }
  present[index_of(RuntimePhase::other)] = label[index_of(RuntimePhase::other)];
  const Nanos whole = std::accumulate(sums.begin(), sums.end(), Nanos{0});
  std::vector<PhaseTime> times;
  for (std::size_t phase = 0; phase < kRuntimePhases; ++phase) {
    PhaseTime time;
    time.phase = static_cast<RuntimePhase>(phase);
    time.ns = label[phase];
    time.share = share_of(time.ns, whole);
    time.present_ns = present[phase];
    time.per_item_ns = per_item(time.ns, items);
    times.push_back(std::move(time));
  }
  return times;
}

KernelShares kernel_shares(const PhaseSums& sums, std::int64_t items) {
  constexpr auto kCpu = bit_of(index_of(RuntimePhase::cpu_kernel)),
                 kGpu = bit_of(index_of(RuntimePhase::gpu_kernel));
  KernelShares kernel_shares;
  for (std::size_t mask = 0; mask < sums.size(); ++mask) {
    const bool cpu = mask & kCpu, gpu = mask & kGpu;
    if (cpu && gpu)
      kernel_shares.both_ns += sums[mask];
    else if (cpu)
      kernel_shares.cpu_kernel_ns += sums[mask];
    else if (gpu)
      kernel_shares.gpu_kernel_ns += sums[mask];
    else
      kernel_shares.overhead_ns += sums[mask];
  }
  const Nanos window = std::accumulate(sums.begin(), sums.end(), Nanos{0});
  kernel_shares.cpu_kernel = share_of(kernel_shares.cpu_kernel_ns, window);
  kernel_shares.gpu_kernel = share_of(kernel_shares.gpu_kernel_ns, window);
  kernel_shares.both = share_of(kernel_shares.both_ns, window);
  kernel_shares.overhead = share_of(kernel_shares.overhead_ns, window);
  kernel_shares.overhead_per_item_ns = per_item(kernel_shares.overhead_ns, items);
  return kernel_shares;
}

}  // namespace gf
