#include "analyze/idle/launch_facts.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "analyze/host_threads.h"

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
  if (activities.empty()) return 0;
  return span.start + span.length() / 2;
}

/// Calls that did one-off work: by their name; a slow first launch of a kernel; any other slow call
/// that neither launches, copies nor waits, unless calls of its name are still slow in the second
/// half of the capture.
std::vector<bool> one_off_calls(const Context& context, const std::vector<std::uint32_t>& started) {
  const Capture& capture = context.capture;
  const auto& calls = capture.api_calls;
  const auto first = first_launches(context);
  const Nanos middle = middle_of(capture);
  std::vector<bool> repeated(capture.strings.size(), false);
  for (std::uint32_t i = 0; i < calls.size(); ++i)
    if (calls.start_ns[i] >= middle && calls.duration_ns[i] >= kSlowCall)
      repeated[static_cast<std::uint32_t>(calls.name[i])] = true;
  std::vector<bool> one_off(calls.size(), false);
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    const auto kind = calls.kind[i];
    if (context.roles.host(calls.name[i]) & kOneOffCall)
      one_off[i] = true;
    else if (calls.duration_ns[i] < kSlowCall)
      continue;
    else if (started[i] != kNoRow)
      one_off[i] = first[i] && capture.activities.kind[started[i]] == ActivityKind::kernel;
    else
      one_off[i] = kind != ApiKind::sync && kind != ApiKind::memcpy && kind != ApiKind::memset &&
                   !repeated[static_cast<std::uint32_t>(calls.name[i])];
  }
  return one_off;
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
  facts.one_off = one_off_calls(context, facts.started);

  std::vector<std::int8_t> is_wait(capture.strings.size(), -1);  // by name: unknown, no, yes
  const auto streams = waiting_streams(capture);
  for (std::uint32_t thread = 0; thread < context.host.threads(); ++thread) {
    bool any = false;
    std::unordered_set<std::int64_t> pending;
    for (auto row : context.host.calls(thread)) {
      if (facts.started[row] == kNoRow) {
        std::int8_t& known = is_wait[static_cast<std::uint32_t>(calls.name[row])];
        if (known < 0) known = is_stream_wait(capture.text(calls.name[row])) ? 1 : 0;
        if (!known) continue;
        const auto stream = streams.find(calls.correlation[row]);
        if (stream == streams.end())
          any = true;
        else
          pending.insert(stream->second);
        continue;
      }
      const auto stream = capture.activities.stream[facts.started[row]];
      facts.waits[row] = any || pending.contains(stream);
      any = false;
      pending.erase(stream);
    }
  }
  return facts;
}

}  // namespace gf
