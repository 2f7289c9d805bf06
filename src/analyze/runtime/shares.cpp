#include "analyze/runtime/shares.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace gf {

namespace {

Share share_of(Nanos part, Nanos whole) {
  return whole > 0 ? Share(static_cast<double>(part) / static_cast<double>(whole)) : std::nullopt;
}

std::optional<double> per_item(Nanos ns, std::int64_t items) {
  return items > 0 ? std::optional<double>(static_cast<double>(ns) / static_cast<double>(items))
                   : std::nullopt;
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
  for (std::size_t p = 0; p < sets.size(); ++p) {
    auto of_phase = sets[p];
    std::erase_if(of_phase, [](auto set) { return set.empty(); });
    if (of_phase.empty()) continue;
    // Small ones first, so that few members are copied often.
    std::sort(of_phase.begin(), of_phase.end(), [](auto a, auto b) { return a.size() < b.size(); });
    auto all = of_phase.front();
    for (std::size_t i = 1; i < of_phase.size(); ++i) all = united[p] = unite(all, of_phase[i]);
    const auto first = std::partition_point(
        all.begin(), all.end(), [&](const Interval& i) { return i.end <= window.start; });
    sources.push_back({bit_of(p), all.subspan(static_cast<std::size_t>(first - all.begin()))});
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
  const auto& a = context.capture.activities;
  const auto& calls = context.capture.api_calls;
  for (const auto p : {RuntimePhase::gpu_kernel, RuntimePhase::queued})
    devices[index_of(p)].reserve(a.size());
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    const Interval span{a.start_ns[i], a.start_ns[i] + a.duration_ns[i]};
    add(devices[index_of(a.kind[i] == ActivityKind::kernel ? RuntimePhase::gpu_kernel
                                                           : RuntimePhase::memcpy)],
        span, window);
    if (const auto call = context.attribution.launch[i]; call != kNoRow)
      add(devices[index_of(RuntimePhase::queued)],
          {calls.start_ns[call] + calls.duration_ns[call], span.start}, window);
  }
  for (const auto& item : trace.framework_queue)
    add(devices[index_of(RuntimePhase::queued)], {item.enter, item.leave}, window);
  PhaseSets sets;
  for (std::size_t p = 0; p < sets.size(); ++p) {
    devices[p] = normalised(std::move(devices[p]));
    sets[p].push_back(devices[p]);
    for (const auto& thread : trace.threads) sets[p].push_back(thread[p].span());
  }
  return overlay(sets, window);
}

PhaseSums sum_phases(const PhaseTimeline& timeline, const Intervals& within) {
  PhaseSums sums{};
  const auto& start = timeline.start_ns;
  if (start.empty() || within.empty()) return sums;
  auto i = static_cast<std::size_t>(
      std::upper_bound(start.begin(), start.end(), within.front().start) - start.begin());
  i -= i > 0;
  for (const auto& span : within) {
    auto end_of = [&](std::size_t piece) {
      return piece + 1 < start.size() ? start[piece + 1] : timeline.window.end;
    };
    while (i + 1 < start.size() && end_of(i) <= span.start) ++i;
    for (Nanos from = std::max(span.start, start[i]); i < start.size();) {
      const Nanos to = std::min(span.end, end_of(i));
      if (from < to) sums[timeline.phases[i]] += to - from;
      if (to >= span.end || i + 1 == start.size()) break;
      from = to;
      ++i;
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
    for (std::size_t p = 0; p < index_of(RuntimePhase::other); ++p)
      if (mask & bit_of(p)) present[p] += sums[mask];
  }
  present[index_of(RuntimePhase::other)] = label[index_of(RuntimePhase::other)];
  const Nanos whole = std::accumulate(sums.begin(), sums.end(), Nanos{0});
  std::vector<PhaseTime> times;
  for (std::size_t p = 0; p < kRuntimePhases; ++p) {
    PhaseTime t;
    t.phase = static_cast<RuntimePhase>(p);
    t.ns = label[p];
    t.share = share_of(t.ns, whole);
    t.present_ns = present[p];
    t.per_item_ns = per_item(t.ns, items);
    times.push_back(std::move(t));
  }
  return times;
}

KernelShares kernel_shares(const PhaseSums& sums, std::int64_t items) {
  constexpr auto kCpu = bit_of(index_of(RuntimePhase::cpu_kernel)),
                 kGpu = bit_of(index_of(RuntimePhase::gpu_kernel));
  KernelShares k;
  for (std::size_t mask = 0; mask < sums.size(); ++mask) {
    const bool cpu = mask & kCpu, gpu = mask & kGpu;
    (cpu && gpu ? k.both_ns
     : cpu      ? k.cpu_kernel_ns
     : gpu      ? k.gpu_kernel_ns
                : k.overhead_ns) += sums[mask];
  }
  const Nanos window = std::accumulate(sums.begin(), sums.end(), Nanos{0});
  k.cpu_kernel = share_of(k.cpu_kernel_ns, window);
  k.gpu_kernel = share_of(k.gpu_kernel_ns, window);
  k.both = share_of(k.both_ns, window);
  k.overhead = share_of(k.overhead_ns, window);
  k.overhead_per_item_ns = per_item(k.overhead_ns, items);
  return k;
}

}  // namespace gf
