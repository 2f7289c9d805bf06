#include "analyze/idle/idle_rules.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "analyze/host_threads.h"
#include "analyze/traits.h"
#include "model/vendor.h"

namespace gf {

namespace {

/// Stream that waits, by correlation of the waiting call.
std::unordered_map<std::int64_t, std::int64_t> waiting_streams(const Capture& capture) {
  std::unordered_map<std::int64_t, std::int64_t> streams;
  const auto& syncs = capture.syncs;
  for (std::size_t i = 0; i < syncs.size(); ++i)
    if (syncs.correlation[i] >= 0 && syncs.stream[i] >= 0)
      streams.emplace(syncs.correlation[i], syncs.stream[i]);
  return streams;
}

/// Ordinary launches take 3 to 20 us and ordinary allocations less: a call this long did more.
constexpr Nanos kSlowCall = 200'000;
/// A call that takes a tenth of the time from then on did one-off work when it ran first.
constexpr Nanos kTimesFaster = 10;

/// By row of api_calls: no earlier call started a kernel of that name.
std::vector<bool> first_launches(const Context& context) {
  const Capture& capture = context.capture;
  const auto& calls = capture.api_calls;
  const auto& launch = context.launches;
  std::vector<std::uint32_t> first(capture.strings.size(), kNoRow);  // call by name of what ran
  for (std::uint32_t index = 0; index < launch.size(); ++index) {
    if (launch[index] == kNoRow) continue;
    auto& call = first[static_cast<std::uint32_t>(capture.activities.name[index])];
    if (call == kNoRow || calls.start_ns[launch[index]] < calls.start_ns[call])
      call = launch[index];
  }
  std::vector<bool> is_first(calls.size(), false);
  for (const auto call : first)
    if (call != kNoRow) is_first[call] = true;
  return is_first;
}

/// Middle of the time in which devices worked.
Nanos middle_of(const Capture& capture) {
  const auto& activities = capture.activities;
  Interval span{INT64_MAX, INT64_MIN};
  for (std::uint32_t i = 0; i < activities.size(); ++i) {
    span.start = std::min(span.start, activities.start_ns[i]);
    span.end = std::max(span.end, activities.start_ns[i] + activities.duration_ns[i]);
  }
  return activities.empty() ? 0 : span.start + span.length() / 2;
}

/// Calls that did one-off work: by their name; a slow first launch of a kernel; any other slow call
/// that neither launches, copies nor waits, unless calls of its name are still slow in the second
/// half of the capture, a tenth of it and more.
std::vector<bool> one_off_calls(const Context& context, const std::vector<std::uint32_t>& started,
                                const std::vector<bool>& first) {
  const Capture& capture = context.capture;
  const auto& calls = capture.api_calls;
  const Nanos middle = middle_of(capture);
  std::vector<Nanos> later(capture.strings.size(), 0);  // the longest one there, by name
  for (std::uint32_t i = 0; i < calls.size(); ++i)
    if (calls.start_ns[i] >= middle) {
      auto& longest = later[static_cast<std::uint32_t>(calls.name[i])];
      longest = std::max(longest, calls.duration_ns[i]);
    }
  std::vector<bool> one_off(calls.size(), false);
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    const auto kind = calls.kind[i];
    if (context.names.call(calls.name[i]) & call_is::one_off)
      one_off[i] = true;
    else if (calls.duration_ns[i] < kSlowCall)
      continue;
    else if (started[i] != kNoRow)
      one_off[i] = first[i] && capture.activities.kind[started[i]] == ActivityKind::kernel;
    else
      one_off[i] = kind != ApiKind::sync && kind != ApiKind::memcpy && kind != ApiKind::memset &&
                   later[static_cast<std::uint32_t>(calls.name[i])] <
                       std::max(kSlowCall, calls.duration_ns[i] / kTimesFaster);
  }
  return one_off;
}

/// By row of host_ops: first calls that did one-off work. An operation that launches kernels, took
/// long when it first ran, and under a tenth of that ever after.
std::vector<bool> one_off_operations(const Context& context) {
  constexpr Nanos kSlowOperation = 10'000'000;
  const Capture& capture = context.capture;
  const auto& ops = capture.host_ops;
  struct Calls {
    std::uint32_t first = kNoRow;
    Nanos longest_other = -1;  // none yet
  };
  std::vector<Calls> slow;  // by name
  std::vector<std::uint32_t> line_of(capture.strings.size(), kNoRow);
  for (std::uint32_t row = 0; row < ops.size(); ++row)
    if (ops.duration_ns[row] >= kSlowOperation && ops.kind[row] == HostKind::op)
      if (auto& line = line_of[static_cast<std::uint32_t>(ops.name[row])]; line == kNoRow) {
        line = static_cast<std::uint32_t>(slow.size());
        slow.emplace_back();
      }
  if (slow.empty()) return {};
  std::vector<bool> one_off(ops.size(), false);
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    const auto line = line_of[static_cast<std::uint32_t>(ops.name[row])];
    if (line == kNoRow || ops.kind[row] != HostKind::op) continue;
    auto& [first, longest_other] = slow[line];
    std::uint32_t other = row;
    if (first == kNoRow || ops.start_ns[row] < ops.start_ns[first]) std::swap(first, other);
    if (other != kNoRow) longest_other = std::max(longest_other, ops.duration_ns[other]);
  }
  std::vector<bool> launched(ops.size(), false);
  for (std::uint32_t row = 0; row < context.attribution.op.size(); ++row)
    if (const auto op = context.attribution.op[row];
        op != kNoRow && capture.activities.kind[row] == ActivityKind::kernel)
      launched[op] = true;
  for (const auto& calls : slow)
    one_off[calls.first] = launched[calls.first] && calls.longest_other >= 0 &&
                           ops.duration_ns[calls.first] >= kSlowOperation &&
                           calls.longest_other * kTimesFaster < ops.duration_ns[calls.first];
  return one_off;
}

/// By row of threads: stretches in which nothing begins or ends, before a kernel is launched for
/// the first time and behind the last work: inside the operation that launches it, or before a
/// kernel that was made at run time. No launch takes that long: the kernel was compiled or loaded,
/// or a library prepared itself.
std::vector<Intervals> first_uses_of(const Context& context,
                                     const std::vector<std::uint32_t>& started,
                                     const std::vector<bool>& first) {
  constexpr Nanos kInOperation = 1'000'000, kWithout = 10'000'000;
  const Capture& capture = context.capture;
  const auto& calls = capture.api_calls;
  // The driver's own launch: what PyTorch launches so outside its operations is Triton's.
  const bool operations = capture.framework == "pytorch" && capture.host_ops.size() > 0;
  auto end_of = [&](std::uint32_t op) {
    return capture.host_ops.start_ns[op] + capture.host_ops.duration_ns[op];
  };
  std::vector<Intervals> found(capture.threads.size());
  for (std::uint32_t thread = 0; thread < context.host.threads(); ++thread) {
    std::optional<ThreadSweep> sweep;
    const auto ops = context.host.ops(thread);
    Nanos since = ops.empty() ? INT64_MAX : capture.host_ops.start_ns[ops.front()];
    for (const auto call : context.host.calls(thread)) {
      const Nanos start = calls.start_ns[call];
      if (first[call] && since < start && start - since >= kInOperation &&
          capture.activities.kind[started[call]] == ActivityKind::kernel) {
        const auto kernel = context.names.kernel(capture.activities.name[started[call]]);
        const bool made =
            kernel & kernel_is::built_while_running ||
            (operations && context.names.call(calls.name[call]) & call_is::driver_launch);
        if (!sweep) sweep.emplace(capture, context.host, context.names, thread);
        sweep->each_state(since, start, [&](Nanos from, Nanos to, const ThreadState& state) {
          if (state.call != kNoRow) return;
          // An operation that ends before the launch worked for itself.
          const bool launches = state.op != kNoRow && end_of(state.op) > start;
          if (launches ? to - from >= kInOperation
                       : made && state.op == kNoRow && to - from >= kWithout)
            found[thread].push_back({from, to});
        });
      }
      if (started[call] != kNoRow) since = start + calls.duration_ns[call];
    }
  }
  return found;
}

}  // namespace

LaunchFacts collect_launch_facts(const Context& context) {
  const Capture& capture = context.capture;
  const auto& calls = capture.api_calls;
  const auto& launch = context.launches;
  LaunchFacts facts;
  facts.started.assign(calls.size(), kNoRow);
  facts.waits.assign(calls.size(), false);
  for (std::uint32_t activity = static_cast<std::uint32_t>(launch.size()); activity-- > 0;)
    if (launch[activity] != kNoRow) facts.started[launch[activity]] = activity;
  const auto first = first_launches(context);
  facts.one_off = one_off_calls(context, facts.started, first);
  facts.first_uses = first_uses_of(context, facts.started, first);

  const auto streams = waiting_streams(capture);
  for (std::uint32_t thread = 0; thread < context.host.threads(); ++thread) {
    bool any = false;
    std::unordered_set<std::int64_t> pending;
    for (auto row : context.host.calls(thread)) {
      if (facts.started[row] == kNoRow) {
        if (!(context.names.call(calls.name[row]) & call_is::stream_wait)) continue;
        const auto stream = streams.find(calls.correlation[row]);
        if (stream == streams.end())
          any = true;
        else
          pending.insert(stream->second);
        continue;
      }
      const auto stream = capture.activities.stream[facts.started[row]];
      if (any || !pending.empty()) facts.waits[row] = pending.erase(stream) > 0 || any;
      any = false;
    }
  }
  return facts;
}

namespace {

/// The gap that hardware was measured to need between queued activities (table in docs/idle.md).
Nanos needed_by_hardware(const Capture& capture) {
  constexpr Nanos kNvidia = 20'000, kAmd = 100'000;
  return vendor_of(capture) == Vendor::amd ? kAmd : kNvidia;
}

}  // namespace

IdleRules::IdleRules(const Context& context, const LaunchFacts& facts)
    : context_(context),
      capture_(context.capture),
      facts_(facts),
      one_off_ops_(one_off_operations(context)),
      hardware_needs_(needed_by_hardware(context.capture)) {
  for (const auto& uses : facts.first_uses)
    if (!uses.empty()) first_uses_end_ = std::max(first_uses_end_, uses.back().end);
}

bool IdleRules::is_input_copy(std::uint32_t activity) const {
  const auto& activities = capture_.activities;
  return activity != kNoRow && activities.kind[activity] == ActivityKind::memcpy &&
         activities.copy[activity] == CopyKind::host_to_device &&
         (activities.bytes[activity] < 0 || activities.bytes[activity] >= kInputBytes) &&
         !made_for_itself(activity);
}

/// A copy that another operation makes of its own tables: FSDP of split sizes, an index of an
/// index on the host.
bool IdleRules::made_for_itself(std::uint32_t activity) const {
  const auto& attribution = context_.attribution;
  if (activity >= attribution.op.size() || attribution.op[activity] == kNoRow) return false;
  auto op = attribution.op[activity];
  auto is_operation = [&](std::uint32_t row) {
    return row != kNoRow && capture_.host_ops.kind[row] == HostKind::op &&
           capture_.text(capture_.host_ops.name[row]).find('#') == std::string_view::npos;
  };
  while (is_operation(attribution.op_parent[op])) op = attribution.op_parent[op];
  const NameWord is = context_.names.host(capture_.host_ops.name[op]);
  return is & host_is::scoped && !(is & host_is::asks_for_input);
}

/// Inside a copy call: the input of a step, or a copy that the host waited for, since it had ended
/// when the call returned. A copy inside the device and one still under way are launches, and so is
/// that of a scalar to the device.
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
  if (a_value && activities.copy[copy] == CopyKind::host_to_device) return {};
  return a_value ? IdleReason::sync : IdleReason::memcpy;
}

/// What the thread is inside of; empty where that says no more than that it works.
std::optional<IdleReason> IdleRules::by_call_or_role(const ThreadState& state) const {
  const bool in_call = state.call != kNoRow;
  if (state.roles & host_is::one_off || (in_call && facts_.one_off[state.call]))
    return IdleReason::start_up;
  ApiKind kind = ApiKind::other;
  if (in_call) kind = capture_.api_calls.kind[state.call];
  const bool waits = kind == ApiKind::sync;
  if (state.roles & host_is::host_transport || (waits && state.roles & host_is::communication))
    return IdleReason::communication;
  if (state.roles & host_is::input) return IdleReason::input;
  if (waits || state.roles & host_is::waits) return IdleReason::sync;
  if (kind == ApiKind::alloc)
    return runs_first(state.op) ? IdleReason::start_up : IdleReason::allocation;
  if (kind == ApiKind::memcpy) return in_copy_call(state.call);
  return {};
}

bool IdleRules::told_to_wait(std::uint32_t activity) const {
  const auto call = context_.launches[activity];
  return call != kNoRow && facts_.waits[call];
}

IdleReason IdleRules::device_late(const IdleGap& gap, Nanos from, Nanos returned) const {
  if (gap.span.end - from > hardware_needs_) return IdleReason::unexplained;
  const auto call = context_.launches[gap.next];
  if (told_to_wait(gap.next)) return IdleReason::dependency;
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
