#include "analyze/runtime/shares.h"

#include <algorithm>

namespace gf {

namespace {

Share share_of(Nanos part, Nanos whole) { return whole > 0 ? Share(static_cast<double>(part) / static_cast<double>(whole)) : std::nullopt; }

std::optional<double> per_item(Nanos ns, std::int64_t items) {
  return items > 0 ? std::optional<double>(static_cast<double>(ns) / static_cast<double>(items)) : std::nullopt;
}

void add(Intervals& set, Interval span, Interval window) {
  span = {std::max(span.start, window.start), std::min(span.end, window.end)};
  if (span.start < span.end) set.push_back(span);
}

}  // namespace

void label_by_precedence(PhaseSets& sets) {
  Intervals left{sets.window};
  for (std::size_t p = 0; p < index_of(RuntimePhase::other); ++p) {
    sets.label[p] = intersect(sets.present[p], left);
    left = subtract(left, sets.label[p]);
  }
  sets.label[index_of(RuntimePhase::other)] = std::move(left);
}

PhaseSets label_phases(const Context& context, const RuntimeTrace& trace, Interval window) {
  PhaseSets sets;
  sets.window = window;
  auto& present = sets.present;
  for (const auto& s : trace.segments) add(present[index_of(s.phase)], s.span, window);
  const auto& a = context.capture.activities;
  const auto& calls = context.capture.api_calls;
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    const Interval span{a.start_ns[i], a.start_ns[i] + a.duration_ns[i]};
    add(present[index_of(a.kind[i] == ActivityKind::kernel ? RuntimePhase::gpu_kernel : RuntimePhase::memcpy)], span, window);
    if (const auto call = context.attribution.launch[i]; call != kNoRow)
      add(present[index_of(RuntimePhase::queued)], {calls.start_ns[call] + calls.duration_ns[call], span.start}, window);
  }
  for (const auto& item : trace.framework_queue) add(present[index_of(RuntimePhase::queued)], {item.enter, item.leave}, window);
  for (auto& set : present) set = normalised(std::move(set));
  label_by_precedence(sets);
  return sets;
}

std::vector<PhaseTime> phase_times(const PhaseSets& sets, const Intervals& within, std::int64_t items) {
  const Nanos whole = total(within);
  std::vector<PhaseTime> times;
  for (std::size_t p = 0; p < kRuntimePhases; ++p) {
    PhaseTime t;
    t.phase = kRuntimePhaseNames[p];
    t.ns = shared_length(sets.label[p], within);
    t.share = share_of(t.ns, whole);
    t.present_ns = p == index_of(RuntimePhase::other) ? t.ns : shared_length(sets.present[p], within);
    t.per_item_ns = per_item(t.ns, items);
    times.push_back(std::move(t));
  }
  return times;
}

KernelShares kernel_shares(const PhaseSets& sets, std::int64_t items) {
  const auto& cpu = sets.present[index_of(RuntimePhase::cpu_kernel)];
  const auto& gpu = sets.present[index_of(RuntimePhase::gpu_kernel)];
  KernelShares k;
  k.both_ns = shared_length(cpu, gpu);
  k.cpu_kernel_ns = total(cpu) - k.both_ns;
  k.gpu_kernel_ns = total(gpu) - k.both_ns;
  const Nanos window = sets.window.length();
  k.overhead_ns = window - k.cpu_kernel_ns - k.gpu_kernel_ns - k.both_ns;
  k.cpu_kernel = share_of(k.cpu_kernel_ns, window);
  k.gpu_kernel = share_of(k.gpu_kernel_ns, window);
  k.both = share_of(k.both_ns, window);
  k.overhead = share_of(k.overhead_ns, window);
  k.overhead_per_item_ns = per_item(k.overhead_ns, items);
  return k;
}

}  // namespace gf
