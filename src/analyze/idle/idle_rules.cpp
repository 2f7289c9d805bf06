#include "analyze/idle/idle_rules.h"

#include <algorithm>

namespace gf {

namespace {

/// Copies to the device below this size are scalars and indices of an operation, not the input of a
/// step; copies back below it are values that the host waits for.
constexpr std::int64_t kInputBytes = 4096;

/// What hardware was measured to need between work that was queued: docs/idle.md has the table.
Nanos needed_by_hardware(const Capture& capture) {
  constexpr Nanos kNvidia = 20'000, kAmd = 100'000;
  for (std::uint32_t i = 0; i < capture.devices.size(); ++i)
    if (capture.text(capture.devices.vendor[i]) == "amd") return kAmd;
  constexpr std::size_t kLookedAt = 2000;  // of a device without a name, its calls tell
  const auto& names = capture.api_calls.name;
  for (std::size_t i = 0; i < std::min(kLookedAt, names.size()); ++i)
    if (capture.text(names[i]).starts_with("hip")) return kAmd;
  return kNvidia;
}

}  // namespace

IdleRules::IdleRules(const Context& context, const LaunchFacts& facts)
    : context_(context),
      capture_(context.capture),
      facts_(facts),
      hardware_needs_(needed_by_hardware(context.capture)) {}

bool IdleRules::is_input_copy(std::uint32_t activity) const {
  const auto& activities = capture_.activities;
  return activity != kNoRow && activities.kind[activity] == ActivityKind::memcpy &&
         activities.copy[activity] == CopyKind::host_to_device &&
         (activities.bytes[activity] < 0 || activities.bytes[activity] >= kInputBytes);
}

/// Inside a copy call: the input of a step, or a copy that the host waited for, since it had ended
/// when the call returned. A copy inside the device and one still under way are launches.
std::optional<IdleReason> IdleRules::in_copy_call(std::uint32_t call) const {
  const auto copy = facts_.started[call];
  const auto& activities = capture_.activities;
  const auto& calls = capture_.api_calls;
  if (copy == kNoRow || activities.kind[copy] != ActivityKind::memcpy) return {};
  if (is_input_copy(copy)) return IdleReason::input;
  const bool awaited = activities.start_ns[copy] + activities.duration_ns[copy] <=
                       calls.start_ns[call] + calls.duration_ns[call];
  if (!awaited || activities.copy[copy] == CopyKind::device_to_device) return {};
  const bool a_value = activities.bytes[copy] >= 0 && activities.bytes[copy] < kInputBytes;
  if (a_value) return IdleReason::sync;
  return IdleReason::memcpy;
}

std::optional<IdleReason> IdleRules::host_late(const ThreadState& state, const IdleGap& gap) const {
  const bool in_call = state.call != kNoRow;
  if (state.roles & kOneOff || (in_call && facts_.one_off[state.call])) return IdleReason::start_up;
  const bool waits = in_call && capture_.api_calls.kind[state.call] == ApiKind::sync;
  if (state.roles & kHostTransport || (waits && state.roles & kCommunication))
    return IdleReason::communication;
  if (state.roles & kInput) return IdleReason::input;
  if (waits || state.roles & kWaits) return IdleReason::sync;
  if (in_call && capture_.api_calls.kind[state.call] == ApiKind::memcpy)
    if (const auto copying = in_copy_call(state.call)) return copying;
  if (!in_call && state.op == kNoRow) return {};
  if (gap.next == kNoRow) return IdleReason::host_other;  // nothing follows that could be late
  if (is_input_copy(gap.next)) return IdleReason::input;
  return IdleReason::launch_bound;
}

IdleReason IdleRules::device_late(const IdleGap& gap, Nanos from, Nanos returned) const {
  if (gap.span.end - from > hardware_needs_) return IdleReason::unexplained;
  const auto call = context_.launches[gap.next];
  if (call != kNoRow && facts_.waits[call]) return IdleReason::dependency;
  if (gap.before == kNoRow) return IdleReason::kernel_gap;
  // It stood ready before the gap and began when another stream had finished.
  const auto& activities = capture_.activities;
  const bool one_call = call != kNoRow && call == context_.launches[gap.before];
  const bool ready = one_call || returned <= gap.span.start;
  if (ready && activities.stream[gap.before] != activities.stream[gap.next])
    return IdleReason::dependency;
  return IdleReason::kernel_gap;
}

}  // namespace gf
