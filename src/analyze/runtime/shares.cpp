#include "analyze/runtime/shares.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace gf {

namespace {

Share share_of(Nanos part, Nanos whole) {
  if (whole > 0) return Share(static_cast<double>(part) / static_cast<double>(whole));
  return std::nullopt;
}

std::optional<double> per_item(Nanos ns, std::int64_t items) {
  if (items > 0) return std::optional<double>(static_cast<double>(ns) / static_cast<double>(items));
  return std::nullopt;
}

constexpr PhaseMask bit_of(std::size_t phase) { return static_cast<PhaseMask>(1u << phase); }

void add(Intervals& set, Interval span, Interval window) {
  span = {std::max(span.start, window.start), std::min(span.end, window.end)};
  if (span.start < span.end) set.push_back(span);
}

}  // namespace

PhaseTimeline overlay(const PhaseSets& sets, Interval window) {
  struct Source {
    PhaseMask bit;
    std::span<const Interval> left;
  };
  std::array<Intervals, std::tuple_size_v<PhaseSets>> united;
  std::vector<Source> sources;
  for (std::size_t phase = 0; phase < sets.size(); ++phase) {
    auto of_phase = sets[phase];
    std::erase_if(of_phase, [](auto set) { return set.empty(); });
    if (of_phase.empty()) continue;
    // Small ones first, so that few members are copied often.
    std::sort(of_phase.begin(), of_phase.end(),
              [](auto left, auto right) { return left.size() < right.size(); });
    auto all = of_phase.front();
    for (std::size_t i = 1; i < of_phase.size(); ++i) all = united[phase] = unite(all, of_phase[i]);
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
      if (holds) phases |= bit;
      next = std::min(next, holds ? left.front().end : left.front().start);
    }
    timeline.start_ns.push_back(now);
    timeline.phases.push_back(phases);
    now = next;
  }
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
    add(devices[index_of(activities.kind[i] == ActivityKind::kernel ? RuntimePhase::gpu_kernel
                                                                    : RuntimePhase::memcpy)],
        span, window);
    if (const auto call = context.attribution.launch[i]; call != kNoRow)
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

PhaseSums sum_phases(const PhaseTimeline& timeline, const Intervals& within) {
  PhaseSums sums{};
  const auto& start = timeline.start_ns;
  if (start.empty() || within.empty()) return sums;
  auto index = static_cast<std::size_t>(
      std::upper_bound(start.begin(), start.end(), within.front().start) - start.begin());
  index -= index > 0;
  for (const auto& span : within) {
    auto end_of = [&](std::size_t piece) {
      return piece + 1 < start.size() ? start[piece + 1] : timeline.window.end;
    };
    while (index + 1 < start.size() && end_of(index) <= span.start) ++index;
    for (Nanos from = std::max(span.start, start[index]); index < start.size();) {
      const Nanos to = std::min(span.end, end_of(index));
      if (from < to) sums[timeline.phases[index]] += to - from;
      if (to >= span.end || index + 1 == start.size()) break;
      from = to;
      ++index;
    }
  }
  return sums;
}

std::vector<PhaseTime> phase_times(const PhaseSums& sums, std::int64_t items) {
  std::array<Nanos, kRuntimePhases> label{}, present{};
  for (std::size_t mask = 0; mask < sums.size(); ++mask) {
    // The lowest bit is the first phase; without any it is `other`, the one behind them.
    const auto first = static_cast<std::size_t>(
        mask == 0 ? static_cast<int>(index_of(RuntimePhase::other)) : std::countr_zero(mask));
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
    (cpu && gpu ? kernel_shares.both_ns
     : cpu      ? kernel_shares.cpu_kernel_ns
     : gpu      ? kernel_shares.gpu_kernel_ns
                : kernel_shares.overhead_ns) += sums[mask];
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
