#include "analyze/idle/device_turns.h"

#include <algorithm>

namespace gf {

namespace {
constexpr std::size_t kLooksPerActivity = 64;  // at each activity, over the gaps of all devices
constexpr std::size_t kFewActivities = 10'000;
constexpr std::int64_t kOnlyProcess = -1, kUnknownProcess = -2;
}  // namespace

DeviceTurns::DeviceTurns(const Context& context, Nanos hardware_needs)
    : context_(context),
      hardware_needs_(hardware_needs),
      looks_left_(kLooksPerActivity * (context.capture.activities.size() + kFewActivities)) {
  const auto& pids = context.capture.threads.pid;
  for (std::size_t thread = 1; thread < pids.size(); ++thread)
    one_process_ = one_process_ && pids[thread] == pids[0];
}

std::int64_t DeviceTurns::process_of(std::uint32_t activity) const {
  if (one_process_) return kOnlyProcess;
  const auto call = context_.launches[activity];
  if (call == kNoRow) return kUnknownProcess;
  const auto thread = context_.capture.api_calls.thread[call];
  const auto& pids = context_.capture.threads.pid;
  return thread < pids.size() ? pids[thread] : kUnknownProcess;
}

/// Stretches that touch stay apart: where one device ends as another one starts shows in them.
const Intervals& DeviceTurns::work_of(std::int64_t process) {
  // One that the answer leaves out can be waited for as well.
  const bool alone = context_.devices.size() + context_.others.size() < 2;
  if (!work_.empty() || alone) return work_[process];
  const auto& activities = context_.capture.activities;
  for (std::uint32_t i = 0; i < activities.size(); ++i)
    if (const Nanos length = activities.duration_ns[i]; length > 0)
      work_[process_of(i)].push_back({activities.start_ns[i], activities.start_ns[i] + length});
  for (auto& [_, spans] : work_) {
    std::ranges::sort(spans, {}, &Interval::start);
    std::size_t kept = 0;
    for (std::size_t i = 1; i < spans.size(); ++i)
      if (spans[i].start < spans[kept].end)
        spans[kept].end = std::max(spans[kept].end, spans[i].end);
      else
        spans[++kept] = spans[i];
    spans.resize(kept + 1);
  }
  return work_[process];
}

Intervals DeviceTurns::before(std::uint32_t next, Nanos from, bool told_to_wait) {
  Intervals waited;
  const auto process = process_of(next);
  if (process == kUnknownProcess) return waited;
  const auto& work = work_of(process);
  const Nanos start = context_.capture.activities.start_ns[next];
  auto at = std::ranges::lower_bound(work, start, {}, &Interval::start);
  if (at == work.begin()) return waited;
  const auto last = std::prev(at)->end;
  const bool works_on = last > start;
  if (works_on ? !told_to_wait : start - last > hardware_needs_) return waited;
  waited.push_back({start, start});
  // The device itself idles from `from` on: what works there is another one.
  while (at != work.begin() && std::prev(at)->end > from) {
    --at;
    auto& later = waited.back();
    if (looks_left_ == 0) {
      later.start = from;
      break;
    }
    --looks_left_;
    const Interval span{std::max(at->start, from), std::min(at->end, start)};
    if (later.start - span.end <= hardware_needs_)
      later.start = span.start;
    else
      waited.push_back(span);
  }
  std::ranges::reverse(waited);
  if (waited.back().length() == 0) waited.clear();
  return waited;
}

}  // namespace gf
